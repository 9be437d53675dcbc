//! What is known of a program or a saved executable, as JSON and as text.

pub mod saved;
mod tensors;
pub mod text;

#[cfg(test)]
mod tests;
