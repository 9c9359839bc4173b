//! Laws of the front end that no fixture pins.
