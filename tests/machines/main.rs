//! One run on many machines: real trainer and worker processes over a directory and over a real S3 server, killed at
//! random moments and with a store that fails on purpose.

mod damage;
mod killing;
mod s3;
mod scene;
mod store;
mod trainers;
