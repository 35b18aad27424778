//! A card: its driver, its memory, and the start of kernels on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUdevice_attribute_enum, CUfunction_attribute_enum};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

/// What the PTX of this program needs: CUDA 12.4, which drivers have from version 550 on.
const CUDA: i32 = 12_040;

/// The least compute capability: of the generation Ampere, of 2020.
const CAPABILITY: (i32, i32) = (8, 0);

/// Bytes of shared memory that a block may have on every card from [`CAPABILITY`] on.
pub(crate) const SHARED: usize = 99 << 10;

/// Why a card cannot be used, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// No driver was found.
    #[error("no NVIDIA driver was found; install one (version 550 or newer), or use the device cpu")]
    NoDriver,
    /// The driver is too old.
    #[error(
        "its driver is for CUDA {}.{}; expected 12.4 or newer: install version 550 or newer",
        .0 / 1000, .0 % 1000 / 10
    )]
    OldDriver(i32),
    /// There is no such card.
    #[error("this machine has {0} such devices, counted from 0")]
    NoCard(usize),
    /// The card is too old.
    #[error(
        "{name} has compute capability {}.{}; expected 8.0 or newer (from the generation Ampere on)",
        .capability.0, .capability.1
    )]
    OldCard {
        /// The card.
        name: String,
        /// Its compute capability.
        capability: (i32, i32),
    },
    /// The memory is full.
    #[error("out of memory: {bytes} bytes more were wanted; smaller batches or fewer games in flight need less")]
    Memory {
        /// How much was wanted.
        bytes: usize,
    },
    /// The network is larger than the kernels serve.
    #[error("network.{name} is {found}; a card takes at most {most}")]
    TooLarge {
        /// The key.
        name: &'static str,
        /// Its value.
        found: usize,
        /// The largest.
        most: usize,
    },
    /// The driver said no.
    #[error("its driver failed: {0}")]
    Driver(String),
}

impl From<DriverError> for CardError {
    fn from(error: DriverError) -> CardError {
        let text = error
            .error_string()
            .map_or_else(|_| format!("error {:?}", error.0), |text| text.to_string_lossy().into_owned());
        CardError::Driver(text)
    }
}

/// Which kernels: for evaluation, or for training alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Evaluation,
    Training,
}

impl Part {
    fn ptx(self) -> &'static str {
        match self {
            Part::Evaluation => include_str!("../kernels/evaluation.ptx"),
            Part::Training => include_str!("../kernels/training.ptx"),
        }
    }

    /// Where a kernel is.
    fn of(kernel: &str) -> Part {
        let named_alike = kernel.ends_with("_f16") || kernel.contains("_f16_");
        if named_alike || ["linear_layer", "answers"].contains(&kernel) { Part::Evaluation } else { Part::Training }
    }
}

/// A card that can be used.
#[derive(Debug)]
pub struct Card {
    context: Arc<CudaContext>,
    name: String,
    multiprocessors: usize,
    modules: Mutex<HashMap<Part, Arc<CudaModule>>>,
    work: Mutex<Work>,
}

/// When a card has work.
#[derive(Debug, Default)]
struct Work {
    /// How many threads have given it some, and since when there has been one.
    now: usize,
    since: Option<Instant>,
    /// The time before that.
    before: Duration,
}

/// While this lives, a card has work.
pub(crate) struct Working<'a>(&'a Card);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut work = self.0.work();
        work.now -= 1;
        if work.now == 0 {
            let since = work.since.take();
            work.before += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

impl Card {
    /// How many cards there are; none without a driver.
    pub(crate) fn count() -> usize {
        is_driver_present()
            .then(|| CudaContext::device_count().ok())
            .flatten()
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(0)
    }

    /// The card with this number, from 0.
    ///
    /// # Errors
    /// When there is no driver or no such card, or one of them is too old.
    pub(crate) fn open(index: usize) -> Result<Arc<Card>, CardError> {
        if !is_driver_present() {
            return Err(CardError::NoDriver);
        }
        let mut version = 0;
        // SAFETY: the library is there, and the pointer is to an integer.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
        if version < CUDA {
            return Err(CardError::OldDriver(version));
        }
        let count = Card::count();
        if index >= count {
            return Err(CardError::NoCard(count));
        }
        let context = CudaContext::new(index)?;
        // SAFETY: each stream uses memory of its own, and what streams share is written before they begin.
        unsafe { context.disable_event_tracking() };
        let (name, capability) = (context.name()?, context.compute_capability()?);
        if capability < CAPABILITY {
            return Err(CardError::OldCard { name, capability });
        }
        let multiprocessors = context.attribute(CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let multiprocessors = usize::try_from(multiprocessors).unwrap_or(1);
        Ok(Arc::new(Card { context, name, multiprocessors, modules: Mutex::default(), work: Mutex::default() }))
    }

    /// What the driver calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its multiprocessors.
    pub fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    /// The time since it was opened in which it had work: copies both ways and kernels.
    pub fn busy(&self) -> Duration {
        let work = self.work();
        work.before + work.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Until the answer is dropped, the card has work.
    pub(crate) fn working(&self) -> Working<'_> {
        let mut work = self.work();
        work.now += 1;
        work.since.get_or_insert_with(Instant::now);
        Working(self)
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A queue of work on this card, for one thread at a time.
    pub(crate) fn stream(self: &Arc<Card>) -> Result<Stream, CardError> {
        // The context belongs to a thread.
        self.context.bind_to_thread()?;
        Ok(Stream { card: Arc::clone(self), stream: self.context.new_stream()?, kernels: HashMap::new() })
    }

    fn kernel(&self, name: &'static str) -> Result<CudaFunction, CardError> {
        let part = Part::of(name);
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match modules.get(&part) {
            Some(module) => Arc::clone(module),
            None => {
                let module = self.context.load_module(Ptx::from_src(part.ptx()))?;
                modules.insert(part, Arc::clone(&module));
                module
            }
        };
        Ok(module.load_function(name)?)
    }
}

/// Whether the driver's library is there. The bindings panic without it.
fn is_driver_present() -> bool {
    // SAFETY: loading a library runs its initialisation; this one's is made for it.
    unsafe { sys::is_culib_present() }
}

/// Memory of a card.
pub(crate) struct Buffer {
    slice: CudaSlice<u8>,
    pointer: u64,
}

impl Buffer {
    /// Where it begins, in the card's memory.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.slice.len()
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    /// Memory of the card; 0 is missing.
    Pointer(u64),
    /// A number of something.
    Int(i32),
    /// A number.
    Float(f32),
    /// A number.
    Double(f64),
}

impl From<&Buffer> for Arg {
    fn from(buffer: &Buffer) -> Arg {
        Arg::Pointer(buffer.pointer)
    }
}

impl From<usize> for Arg {
    fn from(count: usize) -> Arg {
        Arg::Int(i32::try_from(count).expect("batches are cut so that numbers of rows fit"))
    }
}

impl From<bool> for Arg {
    fn from(flag: bool) -> Arg {
        Arg::Int(i32::from(flag))
    }
}

impl From<f32> for Arg {
    fn from(value: f32) -> Arg {
        Arg::Float(value)
    }
}

impl From<f64> for Arg {
    fn from(value: f64) -> Arg {
        Arg::Double(value)
    }
}

/// A list of arguments.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { &[$($crate::card::Arg::from($arg)),*] };
}
pub(crate) use args;

/// How a kernel starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Blocks, in two directions.
    pub blocks: (usize, usize),
    /// Threads of a block.
    pub threads: usize,
    /// Bytes of a block's shared memory.
    pub shared: usize,
}

impl Grid {
    /// Blocks of 256 threads for a number of items, several items a thread where there are over a million.
    pub fn over(items: usize) -> Grid {
        Grid { blocks: (items.div_ceil(256).clamp(1, 4096), 1), threads: 256, shared: 0 }
    }

    /// A block for each board.
    pub fn boards(boards: usize, threads: usize, shared: usize) -> Grid {
        Grid { blocks: (boards, 1), threads, shared }
    }
}

/// A queue of work on a card. The work is done in its order.
pub(crate) struct Stream {
    card: Arc<Card>,
    stream: Arc<CudaStream>,
    kernels: HashMap<&'static str, CudaFunction>,
}

impl Stream {
    /// The card.
    pub fn card(&self) -> &Arc<Card> {
        &self.card
    }

    /// Lets the calling thread use the card.
    pub fn bind(&self) -> Result<(), CardError> {
        Ok(self.card.context.bind_to_thread()?)
    }

    /// Memory with any content.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, CardError> {
        let wanted = bytes.max(16);
        // SAFETY: whatever lies there is overwritten before it is read, as the tests' emulated memory makes sure.
        let slice = unsafe { self.stream.alloc::<u8>(wanted) };
        let slice = slice.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => CardError::Memory { bytes: wanted },
            _ => error.into(),
        })?;
        let pointer = slice.device_ptr(&self.stream).0;
        Ok(Buffer { slice, pointer })
    }

    /// Copies words to the beginning of a buffer.
    pub fn write(&self, words: &[u32], to: &mut Buffer) -> Result<(), CardError> {
        let bytes = bytes_of(words);
        Ok(self.stream.memcpy_htod(bytes, &mut to.slice.slice_mut(..bytes.len()))?)
    }

    /// A buffer with these numbers.
    pub fn upload(&self, values: &[f32]) -> Result<Buffer, CardError> {
        let mut buffer = self.allocate(4 * values.len())?;
        let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        self.write(&words, &mut buffer)?;
        Ok(buffer)
    }

    /// The first `count` numbers of a buffer, when all work before is done.
    pub fn read(&self, from: &Buffer, count: usize) -> Result<Vec<f32>, CardError> {
        let mut bytes = vec![0; 4 * count];
        self.stream.memcpy_dtoh(&from.slice.slice(..4 * count), &mut bytes)?;
        self.stream.synchronize()?;
        Ok(bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect())
    }

    /// Waits until all work is done.
    pub fn wait(&self) -> Result<(), CardError> {
        Ok(self.stream.synchronize()?)
    }

    /// Starts a kernel. The arguments must fit its signature in `kernels/`: memory large enough, numbers of the right
    /// type.
    pub fn start(&mut self, kernel: &'static str, grid: Grid, args: &[Arg]) -> Result<(), CardError> {
        if !self.kernels.contains_key(kernel) {
            let function = self.card.kernel(kernel)?;
            function.set_attribute(
                CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                SHARED as i32,
            )?;
            self.kernels.insert(kernel, function);
        }
        let mut launch = self.stream.launch_builder(&self.kernels[kernel]);
        for arg in args {
            match arg {
                Arg::Pointer(pointer) => launch.arg(pointer),
                Arg::Int(count) => launch.arg(count),
                Arg::Float(value) => launch.arg(value),
                Arg::Double(value) => launch.arg(value),
            };
        }
        let number = |count: usize| u32::try_from(count).expect("grids are small");
        let config = LaunchConfig {
            grid_dim: (number(grid.blocks.0), number(grid.blocks.1), 1),
            block_dim: (number(grid.threads), 1, 1),
            shared_mem_bytes: number(grid.shared.next_multiple_of(16)),
        };
        // SAFETY: the callers, all in this crate, give each kernel what its signature says.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}

/// Words as bytes.
fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: every bit pattern is a byte, and bytes have no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 4 * words.len()) }
}
