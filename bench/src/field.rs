//! The vector fields of shipped models.

use carom::lab::catalogue;
use carom::lab::expr::Expr;
use carom::lab::mechanics::Field;
use carom::lab::mechanics::Mechanics;
use carom::lab::model::Model;
use carom::lab::system::time;

/// (v, ṗ) as expressions, and a point.
pub struct VectorField {
    /// q, p.
    pub z: Vec<Expr>,
    /// t, parameters.
    pub shared: Vec<Expr>,
    /// v, ṗ.
    pub rates: Vec<Expr>,
    /// Where the model starts.
    pub start: Vec<f64>,
    /// The time and the parameters there.
    pub values: Vec<f64>,
}

impl VectorField {
    /// The field of a shipped model without driven coordinates.
    pub fn of(example: &str) -> VectorField {
        let text = catalogue::find(example).expect("it ships").text;
        let model = Model::from_text(example, text, &[]).expect("shipped models are right");
        let mechanics = Mechanics::new(&model.system);
        let mut rates = Field::expressions(&mechanics).expect("shipped models are quadratic in v");
        rates.truncate(2 * mechanics.n());
        let start = model.start().expect("shipped models start");
        let parameters = model.system.parameters.iter().map(|p| p.value);
        VectorField {
            z: [&mechanics.q[..], &mechanics.p()].concat(),
            shared: [&[time()], &mechanics.parameters[..]].concat(),
            rates,
            start: [start.q, start.p].concat(),
            values: [0.0].into_iter().chain(parameters).collect(),
        }
    }
}
