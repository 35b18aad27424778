//! A graph while it is put together: nodes that name their results, and the weights they use.

use super::proto::{
    AttributeProto, DimensionProto, GraphProto, NodeProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto,
};
use crate::Weights;

/// The name of a value in the graph.
pub(super) type Value = String;

/// A dimension of an input or output.
pub(super) enum Dimension {
    Fixed(usize),
    /// Any number; equal names mean equal numbers.
    Open(&'static str),
}

/// A graph that grows.
pub(super) struct OnnxGraph<'a> {
    weights: &'a Weights,
    graph: GraphProto,
}

impl OnnxGraph<'_> {
    /// An empty graph that may use these weights.
    pub(super) fn new<'a>(name: &str, weights: &'a Weights) -> OnnxGraph<'a> {
        OnnxGraph { weights, graph: GraphProto { name: name.to_owned(), ..GraphProto::default() } }
    }

    /// An input.
    pub(super) fn input(&mut self, name: &str, meaning: &str, shape: &[Dimension]) -> Value {
        self.graph.input.push(value_info(name, meaning, shape));
        name.to_owned()
    }

    /// Names a value as an output.
    pub(super) fn output(&mut self, value: &str, name: &str, meaning: &str, shape: &[Dimension]) {
        self.graph.node.push(NodeProto {
            input: vec![value.to_owned()],
            output: vec![name.to_owned()],
            name: name.to_owned(),
            op_type: "Identity".to_owned(),
            attribute: Vec::new(),
        });
        self.graph.output.push(value_info(name, meaning, shape));
    }

    /// A weight by its name in the safetensors file, which is its name in the graph too.
    pub(super) fn weight(&mut self, name: &str) -> Value {
        // Weights hold every tensor of the network's steps.
        let tensor = &self.weights.tensors()[name];
        let raw_data = tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let dims = tensor.shape.iter().map(|&dim| dim as i64).collect();
        self.initializer(name.to_owned(), dims, TensorProto::FLOAT, raw_data)
    }

    /// A constant vector of whole numbers.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) -> Value {
        let raw_data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, vec![values.len() as i64], TensorProto::INT64, raw_data)
    }

    /// A constant whole number, as a scalar.
    pub(super) fn integer(&mut self, name: &str, value: i64) -> Value {
        let name = format!("{name}.{value}");
        self.constant(&name, Vec::new(), TensorProto::INT64, value.to_le_bytes().to_vec())
    }

    /// A constant number, as a scalar.
    pub(super) fn number(&mut self, name: &str, value: f32) -> Value {
        self.constant(name, Vec::new(), TensorProto::FLOAT, value.to_le_bytes().to_vec())
    }

    fn constant(&mut self, name: &str, dims: Vec<i64>, data_type: i32, raw_data: Vec<u8>) -> Value {
        self.initializer(format!("constant.{name}"), dims, data_type, raw_data)
    }

    fn initializer(&mut self, name: String, dims: Vec<i64>, data_type: i32, raw_data: Vec<u8>) -> Value {
        if !self.graph.initializer.iter().any(|known| known.name == name) {
            let data_type = Some(data_type);
            self.graph.initializer.push(TensorProto { dims, data_type, name: name.clone(), raw_data });
        }
        name
    }

    /// An operator with one result, which is named after `name`.
    pub(super) fn node(&mut self, op: &str, name: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> Value {
        let result = format!("{name}/{op}");
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: vec![result.clone()],
            name: result.clone(),
            op_type: op.to_owned(),
            attribute: attributes,
        });
        result
    }

    /// The finished graph.
    pub(super) fn finish(self) -> GraphProto {
        self.graph
    }
}

/// An attribute that is a whole number.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    let kind = Some(AttributeProto::INT);
    AttributeProto { name: name.to_owned(), i: Some(value), kind, ..AttributeProto::default() }
}

/// An attribute that is a list of whole numbers.
pub(super) fn ints(name: &str, values: &[i64]) -> AttributeProto {
    let kind = Some(AttributeProto::INTS);
    AttributeProto { name: name.to_owned(), ints: values.to_vec(), kind, ..AttributeProto::default() }
}

/// An attribute that is a number.
pub(super) fn float(name: &str, value: f32) -> AttributeProto {
    let kind = Some(AttributeProto::FLOAT);
    AttributeProto { name: name.to_owned(), f: Some(value), kind, ..AttributeProto::default() }
}

fn value_info(name: &str, meaning: &str, shape: &[Dimension]) -> ValueInfoProto {
    let dimension = |dimension: &Dimension| match dimension {
        Dimension::Fixed(value) => DimensionProto { dim_value: Some(*value as i64), dim_param: None },
        Dimension::Open(name) => DimensionProto { dim_value: None, dim_param: Some((*name).to_owned()) },
    };
    let shape = TensorShapeProto { dim: shape.iter().map(dimension).collect() };
    let tensor = TensorTypeProto { elem_type: Some(TensorProto::FLOAT), shape: Some(shape) };
    ValueInfoProto {
        name: name.to_owned(),
        kind: Some(TypeProto { tensor_type: Some(tensor) }),
        doc_string: meaning.to_owned(),
    }
}
