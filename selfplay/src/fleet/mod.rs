//! Many self-play games at once.
