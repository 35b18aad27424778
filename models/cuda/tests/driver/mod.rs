//! The emulated driver, compiled once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Compiles the emulated driver and lets this process find it where it looks for NVIDIA's. The first call decides on
/// the compiler's options.
pub fn use_emulated(options: &[&str]) {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let library = compile(options);
        // Loaded once under its name, it is what the bindings find.
        // SAFETY: it is ours, and its initialisation does nothing.
        let loaded = unsafe { libloading::Library::new(&library) };
        std::mem::forget(loaded.expect("the emulated driver loads"));
    });
}

/// The path of the library, compiled with these options.
pub fn compile(options: &[&str]) -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut kernels = above.map(|folder| folder.join("models/cuda/kernels")).filter(|kernels| kernels.is_dir());
    let kernels = kernels.next().expect("the kernels' folder");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("emulated{}", options.concat()));
    std::fs::create_dir_all(&folder).expect("a folder of the target directory");
    let library = folder.join("libcuda.so");
    // Another process may have the one before in use.
    let fresh = folder.join(format!("libcuda.so.{}", std::process::id()));
    let status = Command::new("c++")
        .args([
            "-std=c++17",
            "-O2",
            "-shared",
            "-fPIC",
            "-U_FORTIFY_SOURCE",
            "-DEMULATED",
            "-Wl,-soname,libcuda.so",
            "-I",
        ])
        .arg(&kernels)
        .args(options)
        .arg(kernels.join("emulated/driver.cpp"))
        .arg("-o")
        .arg(&fresh)
        .status()
        .expect("a C++ compiler, `c++`");
    assert!(status.success(), "the emulated driver compiles");
    std::fs::rename(&fresh, &library).expect("renamed");
    library
}
