//! How many threads the pool of a CPU client has: the option `threads`.
//!
//! Plugins have no option for that. They take the number from a variable of the
//! environment, which is not the library's to write, or else make one thread for each
//! CPU that the thread which creates the client may run on. So the client is created in
//! a thread of the library's that may run on so many; what the plugin starts meanwhile
//! is bound to those CPUs as well, and is set free afterwards.

use rustix::fs::{CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

use crate::env;
use crate::error::{Code, Error, Origin, Result};
use crate::options::{Options, Value};
use crate::thread;

/// The option's name.
pub const THREADS: &str = "threads";
/// How many devices a CPU client has, each of which gets a thread at least.
const DEVICES: &str = "cpu_device_count";
/// Where the system tells which threads this process has.
const TASKS: &str = "/proc/self/task";
/// How often it is looked for threads that a thread which is not free yet has started.
const MOST_LOOKS: usize = 10;

/// How the client's pool gets its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pool {
    /// As the plugin sees fit.
    Plugins,
    /// A variable of the environment has the right number in it.
    Variables,
    /// By a thread that may run on so many CPUs.
    Cpus(usize),
}

/// What is to be done for the option, which is checked, if it is among `options`.
pub fn plan(options: &Options) -> Result<Pool> {
    let Some(Value::Int(wanted)) = options.get(THREADS) else { return Ok(Pool::Plugins) };
    if let Some(Value::Int(devices)) = options.get(DEVICES)
        && devices > wanted
    {
        return refuse(format!(
            "create option 'threads' is {wanted}, but a client of {devices} devices has a thread for each"
        ));
    }
    let variables = [env::PJRT_NPROC, env::NPROC].map(|name| (name, env::seen_by_plugin(name)));
    let cpus = cpus().map_err(|errno| unavailable(NO_CPUS, errno))?.count();
    judge(
        *wanted,
        &variables.map(|(name, value)| (name, value.and_then(|value| value.into_string().ok()))),
        cpus,
    )
}

fn judge(wanted: i64, variables: &[(&str, Option<String>)], cpus: u32) -> Result<Pool> {
    // Plugins pass over what is no number, and take those below 1 for 1.
    let number = |text: &String| Some(i64::from(text.trim().parse::<i32>().ok()?.max(1)));
    let set = variables.iter().find_map(|(name, value)| Some((name, value.as_ref().and_then(number)?)));
    match (set, u32::try_from(wanted)) {
        (Some((_, value)), _) if value == wanted => Ok(Pool::Variables),
        (Some((name, value)), _) => {
            let message = format!(
                "create option 'threads' is {wanted}, but the environment variable {name}, which the plugin heeds, is {value}"
            );
            Err(Error::new(Code::FailedPrecondition, Origin::Caller, message)
                .parameter("options")
                .hint(format!("unset {name} before the process starts, or leave the option out")))
        }
        (None, Ok(count)) if count <= cpus => Ok(Pool::Cpus(count as usize)),
        (None, _) => refuse(format!(
            "create option 'threads' is {wanted}, and this process may run on {cpus} CPUs: more threads cannot be had"
        ))
        .map_err(|error| error.hint("start the process with the environment variable PJRT_NPROC set to it")),
    }
}

fn refuse(message: String) -> Result<Pool> {
    Err(Error::invalid_argument(message).parameter("options"))
}

impl Pool {
    /// Does `work`, which creates a client, where the client's pool gets the right size.
    pub fn create<T: Send>(self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        match self {
            Pool::Plugins | Pool::Variables => work(),
            Pool::Cpus(count) => thread::in_own_thread(|| on_cpus(count, TASKS, work)),
        }
    }
}

/// Does `work` in the calling thread, which may run on so many of its CPUs only. The
/// threads that come into being meanwhile may run on all of them afterwards.
fn on_cpus<T>(count: usize, tasks: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let all = cpus().map_err(|errno| unavailable(NO_CPUS, errno))?;
    let mut few = CpuSet::new();
    (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).take(count).for_each(|cpu| few.set(cpu));
    if few == all {
        return work();
    }
    let mut threads = Threads::open(tasks).map_err(|errno| unavailable(NO_THREADS, errno))?;
    let mut known = threads.list();
    // Nothing here, or the threads of another process: those to come would not be found.
    if !known.contains(&gettid()) {
        return Err(unavailable(NO_THREADS, Errno::NOENT));
    }
    sched_setaffinity(None, &few)
        .map_err(|errno| unavailable("changed which CPUs a thread may run on", errno))?;
    let outcome = work();
    // A thread that is not free yet may start one that is not either.
    for _ in 0..MOST_LOOKS {
        let mut new = threads.list();
        new.retain(|thread| !known.contains(thread));
        if new.is_empty() {
            break;
        }
        // What has another set of CPUs has it from somebody else, who meant it.
        for &thread in new.iter().filter(|&&thread| sched_getaffinity(Some(thread)) == Ok(few)) {
            // It fails for a thread that has ended.
            let _ = sched_setaffinity(Some(thread), &all);
        }
        known.extend(new);
    }
    outcome
}

/// The CPUs that the calling thread may run on.
fn cpus() -> std::result::Result<CpuSet, Errno> {
    sched_getaffinity(None)
}

const NO_CPUS: &str = "told which CPUs a thread may run on";
const NO_THREADS: &str = "told in /proc/self/task which threads there are";

/// `what` the system has not done.
fn unavailable(what: &str, errno: Errno) -> Error {
    let message = format!("create option 'threads' does not work here: the system has not {what}: {errno}");
    Error::new(Code::Unimplemented, Origin::System, message)
        .parameter("options")
        .hint("start the process with the environment variable PJRT_NPROC set to the number of threads")
}

/// The list of this process's threads, held open: it can be read where no further file
/// can be opened.
struct Threads(Dir);

impl Threads {
    fn open(tasks: &str) -> rustix::io::Result<Threads> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Threads(Dir::new(rustix::fs::openat(CWD, tasks, flags, Mode::empty())?)?))
    }

    fn list(&mut self) -> Vec<Pid> {
        self.0.rewind();
        let names = self.0.by_ref().flatten();
        names.filter_map(|entry| Pid::from_raw(entry.file_name().to_str().ok()?.parse().ok()?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(wanted: i64, pjrt: Option<&str>, nproc: Option<&str>) -> Result<Pool> {
        let variable = |name, value: Option<&str>| (name, value.map(str::to_owned));
        judge(wanted, &[variable(env::PJRT_NPROC, pjrt), variable(env::NPROC, nproc)], 4)
    }

    #[test]
    fn variables_go_before_cpus() {
        assert_eq!(judged(1, None, None).unwrap(), Pool::Cpus(1));
        assert_eq!(judged(4, None, None).unwrap(), Pool::Cpus(4));
        assert_eq!(judged(4, Some("4"), None).unwrap(), Pool::Variables);
        assert_eq!(judged(9, None, Some(" 9 ")).unwrap(), Pool::Variables);
        assert_eq!(judged(2, Some("2"), Some("3")).unwrap(), Pool::Variables);
        assert_eq!(judged(2, Some("many"), Some("2")).unwrap(), Pool::Variables);
        assert_eq!(judged(2, Some("3x"), Some("99999999999")).unwrap(), Pool::Cpus(2));
        assert_eq!(judged(1, Some("-3"), None).unwrap(), Pool::Variables);
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let refused = |wanted, pjrt, nproc, code, part: &str| {
            let error = judged(wanted, pjrt, nproc).unwrap_err();
            assert_eq!((error.code(), error.detail("parameter")), (code, Some("options")));
            assert!(error.message().contains(part), "{error}");
        };
        refused(5, None, None, Code::InvalidArgument, "may run on 4 CPUs");
        refused(2, Some("4"), None, Code::FailedPrecondition, "PJRT_NPROC");
        refused(2, None, Some("4"), Code::FailedPrecondition, "NPROC, which the plugin heeds, is 4");
        refused(
            3,
            Some("2"),
            Some("3"),
            Code::FailedPrecondition,
            "PJRT_NPROC, which the plugin heeds, is 2",
        );
        let mut options = Options::new();
        options.parse("threads=2;cpu_device_count=3").unwrap();
        assert!(plan(&options).unwrap_err().message().contains("3 devices"));
        options.parse("cpu_device_count=1").unwrap();
        options.remove(THREADS);
        assert_eq!(plan(&options).unwrap(), Pool::Plugins);
    }

    #[test]
    fn threads_that_are_started_meanwhile_are_free_afterwards() {
        let here = cpus().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let inside = Pool::Cpus(1).create(|| {
            let inside = cpus().unwrap();
            let waits = std::thread::spawn(move || {
                let bound = cpus().unwrap();
                let _ = receiver.recv();
                (bound, cpus().unwrap())
            });
            Ok((inside, waits))
        });
        let (inside, waits) = inside.unwrap();
        assert_eq!(cpus().unwrap(), here);
        assert_eq!(inside.count(), 1);
        drop(sender);
        let (_, after) = waits.join().unwrap();
        assert_eq!(after, here);
    }
    #[test]
    fn without_a_list_of_threads_there_is_an_error() {
        let empty = std::env::temp_dir().join(format!("cyxla-no-tasks-{}", std::process::id()));
        std::fs::create_dir(&empty).unwrap();
        // With one CPU there is nothing to choose.
        let is_needed = cpus().unwrap().count() > 1;
        for tasks in ["/proc/none", empty.to_str().unwrap()] {
            let mut created = false;
            let outcome = thread::in_own_thread(|| {
                let before = cpus().unwrap();
                let outcome = on_cpus(1, tasks, || {
                    created = true;
                    Ok(())
                });
                assert_eq!(cpus().unwrap(), before);
                outcome
            });
            assert_eq!(created, !is_needed);
            let error = outcome.err();
            assert_eq!(error.as_ref().map(Error::code), is_needed.then_some(Code::Unimplemented));
            assert!(error.is_none_or(|error| error.message().contains("/proc/self/task")));
        }
        std::fs::remove_dir(&empty).unwrap();
    }
}
