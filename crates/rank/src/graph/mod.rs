//! A walk over the links between documents.
#![allow(missing_docs)]
pub struct Graph { n: usize }
pub struct GraphBuilder { n: usize }
impl GraphBuilder { pub fn new(_: u32) -> Self { Self { n: 0 } } pub fn link(&mut self, _: u32, _: u32, _: f32) { self.n += 1; } pub fn build(self) -> Graph { Graph { n: self.n } } }
impl Graph { pub fn edges(&self) -> usize { self.n } pub fn walk(&self, _: &[(u32, f64)], _: &dyn Fn(u32) -> bool, _: usize) -> Vec<(u32, f64)> { Vec::new() } }
