//! The running statistics of the normalisation layers.
//!
//! Every shard runs a copy of the network and updates the copy's running means and variances. The network takes over
//! the mean of its copies' statistics, except from skipped steps.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;
use hnefi_models::Network;

fn is_running(path: &[String]) -> bool {
    path.last().is_some_and(|name| name == "running_mean" || name == "running_var")
}

/// The running statistics of a network after its steps, without autodiff, in the order of its fields.
pub(super) fn collect(network: &Network) -> Vec<Tensor<1>> {
    #[derive(Default)]
    struct Collect {
        path: Vec<String>,
        found: Vec<Tensor<1>>,
    }
    impl ModuleVisitor for Collect {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_owned());
        }
        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if is_running(&self.path) {
                let tensor = param.val();
                let count = tensor.shape().num_elements();
                self.found.push(tensor.reshape([count]));
            }
        }
    }
    let mut visitor = Collect::default();
    // burn applies updates at `valid` or at the next forward pass.
    network.valid().visit(&mut visitor);
    visitor.found
}

/// The mean of several networks' statistics, summed in the order given.
pub(super) fn mean(shards: Vec<Vec<Tensor<1>>>) -> Vec<Tensor<1>> {
    let count = shards.len() as f32;
    let mut shards = shards.into_iter();
    let first = shards.next().unwrap_or_default();
    let sums = shards.fold(first, |sums, shard| sums.into_iter().zip(shard).map(|(sum, next)| sum + next).collect());
    sums.into_iter().map(|sum| sum / count).collect()
}

pub(super) fn replace(network: Network, statistics: Vec<Tensor<1>>) -> Network {
    struct Replace {
        path: Vec<String>,
        statistics: std::vec::IntoIter<Tensor<1>>,
    }
    impl ModuleMapper for Replace {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.path.push(name.to_owned());
        }
        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.path.pop();
        }
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            if !is_running(&self.path) {
                return param;
            }
            let new = self.statistics.next().expect("both networks have the same layers");
            param.map(|old| Tensor::from_inner(new.reshape(old.shape())))
        }
    }
    network.map(&mut Replace { path: Vec::new(), statistics: statistics.into_iter() })
}
