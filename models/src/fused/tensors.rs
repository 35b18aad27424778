//! Flex tensors as slices of floats and back.

use burn::backend::TensorMetadata;
use burn::backend::flex::{FlexTensor, Layout};
use burn::tensor::{Bytes, DType, Shape};

/// A contiguous tensor that owns these values.
pub(super) fn tensor(values: Vec<f32>, shape: impl Into<Shape>) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(shape.into()), DType::F32)
}

/// The values of a tensor that was made contiguous before.
pub(super) fn values(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect("made contiguous and f32 before")
}

/// Whether an input was given: absent ones cross burn's dispatcher as tensors with one element, since its macro knows
/// no options.
pub(super) fn is_present(tensor: &FlexTensor) -> bool {
    tensor.shape().num_elements() > 1
}

/// The tensor made contiguous, its values copied if others share them.
pub(super) fn into_contiguous(tensor: FlexTensor) -> FlexTensor {
    // The argument, a second owner, ends here.
    tensor.to_contiguous()
}
