"""Networks whose edges are labelled by proof, for methods that look for circuits."""
