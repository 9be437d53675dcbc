//! Reads the serialized compile options, of which real plugins check so little that a
//! missing count of replicas ends the process.

use crate::errors::Failure;
use crate::ledger;
use crate::proto::{Value, fields, varint};

/// What the plugin needs of the options.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// Ids of the devices to run on; empty means the client's first.
    pub devices: Vec<u64>,
    /// Whether the device is chosen at execution.
    pub portable: bool,
    replicas: u64,
    partitions: u64,
}

impl CompileOptions {
    pub fn parse(serialized: &[u8]) -> Result<Self, Failure> {
        let mut options = Self::default();
        options.read(serialized).ok_or_else(|| {
            Failure::invalid("PJRT_Client_Compile: failed to deserialize CompileOptionsProto")
        })?;
        if options.replicas == 0 || options.partitions == 0 {
            let what = "compile options without num_replicas or num_partitions";
            return Err(ledger::misuse(what.to_owned()));
        }
        if options.replicas * options.partitions != 1 {
            return Err(Failure::invalid("the fake plugin runs on one device at a time"));
        }
        Ok(options)
    }

    fn read(&mut self, serialized: &[u8]) -> Option<()> {
        for field in fields(serialized)? {
            match field {
                (3, Value::Bytes(build)) => self.read_build_options(build)?,
                (4, Value::Number(portable)) => self.portable = portable != 0,
                _ => {}
            }
        }
        Some(())
    }

    fn read_build_options(&mut self, build: &[u8]) -> Option<()> {
        for field in fields(build)? {
            match field {
                (4, Value::Number(replicas)) => self.replicas = replicas,
                (5, Value::Number(partitions)) => self.partitions = partitions,
                (9, Value::Bytes(assignment)) => self.read_assignment(assignment)?,
                _ => {}
            }
        }
        Some(())
    }

    fn read_assignment(&mut self, assignment: &[u8]) -> Option<()> {
        for field in fields(assignment)? {
            let (3, Value::Bytes(computation)) = field else {
                continue;
            };
            for field in fields(computation)? {
                match field {
                    (1, Value::Number(device)) => self.devices.push(device),
                    (1, Value::Bytes(mut packed)) => {
                        while !packed.is_empty() {
                            self.devices.push(varint(&mut packed)?);
                        }
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }
}
