//! The dispatch: tables of kernels, one for each instruction set, chosen when the program runs.

/// Makes the type of a table, a table for each instruction set, and a safe method for each kernel.
///
/// A kernel is written `fn name(arguments) where condition, "message"; => call;`. For each instruction set the call
/// stands in a function of its own that enables the set's features; the generic arguments are the items that the set
/// defines. The method asserts the conditions, which must imply what the kernel's `# Safety` section asks for.
///
/// A family of tables has a function that returns the tables that this CPU can run, the fastest first, and one that
/// returns the fastest. A set names its module, the table's name, the CPU features it needs and its items; the last one
/// runs on any CPU.
macro_rules! dispatch {
    (
        $(#[$doc:meta])*
        pub struct $table:ident;
        $(
            $(#[$all_doc:meta])*
            pub fn $all:ident();
            $(#[$best_doc:meta])*
            pub fn $best:ident();
            $(use $set:ident $set_name:expr, $($feature:tt),+ => { $($item:item)* })*
            else $last:ident $last_name:expr => { $($last_item:item)* }
        )+
        impl $kernels:tt
    ) => {
        dispatch!(@table $(#[$doc])*, $table, $kernels);

        impl $table {
            $(
                $(#[$all_doc])*
                pub fn $all() -> impl Iterator<Item = &'static $table> {
                    #[cfg(target_arch = "x86_64")]
                    let sets = [$(($(is_x86_feature_detected!($feature))&&+).then_some(&$set::TABLE)),*];
                    #[cfg(not(target_arch = "x86_64"))]
                    let sets: [Option<&$table>; 0] = [];
                    sets.into_iter().flatten().chain([&$last::TABLE])
                }

                $(#[$best_doc])*
                pub fn $best() -> &'static $table {
                    $table::$all().next().unwrap_or(&$last::TABLE)
                }
            )+
        }

        $(
            $(
                #[cfg(target_arch = "x86_64")]
                dispatch!(
                    @set $set, $table, $set_name, target_feature($(enable = $feature),+), { $($item)* }, $kernels
                );
            )*
            dispatch!(@set $last, $table, $last_name, inline(never), { $($last_item)* }, $kernels);
        )+
    };

    (
        @table $(#[$doc:meta])*, $table:ident,
        { $(
            $(#[$kernel_doc:meta])*
            fn $kernel:ident($($argument:ident: $type:ty),* $(,)?) $(-> $out:ty)?
            $(where $condition:expr, $message:literal;)* => $call:expr;
        )* }
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[allow(clippy::type_complexity, reason = "the kernels' signatures, each used once")]
        pub struct $table {
            /// The name of the table, for people.
            pub name: &'static str,
            $($kernel: unsafe fn($($type),*) $(-> $out)?,)*
        }

        impl $table {
            $(
                $(#[$kernel_doc])*
                $(#[doc = concat!("\n# Panics\nUnless `", stringify!($condition), "`.")])*
                pub fn $kernel(&self, $($argument: $type),*) $(-> $out)? {
                    $(assert!($condition, $message);)*
                    // SAFETY: the operands fit, and a table is only handed out where the CPU has its features.
                    unsafe { (self.$kernel)($($argument),*) }
                }
            )*
        }
    };

    (
        @set $set:ident, $table:ident, $name:expr, $attribute:meta, { $($item:item)* },
        { $(
            $(#[$kernel_doc:meta])*
            fn $kernel:ident($($argument:ident: $type:ty),* $(,)?) $(-> $out:ty)?
            $(where $condition:expr, $message:literal;)* => $call:expr;
        )* }
    ) => {
        mod $set {
            use super::*;

            $($item)*

            pub(super) static TABLE: $table = $table { name: $name, $($kernel,)* };

            $(
                #[$attribute]
                #[allow(unused_unsafe, reason = "some calls are safe")]
                unsafe fn $kernel($($argument: $type),*) $(-> $out)? {
                    // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                    unsafe { $call }
                }
            )*
        }
    };
}

pub(crate) use dispatch;
