//! Nothing but the home of the test targets beside this file.
