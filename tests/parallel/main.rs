//! Plans whose sessions are worked on apart, from outside: the real binaries, real repositories, and a stand-in for the
//! client that does what `omo agent next` says.
#![cfg(unix)]

mod ground;
mod host;

mod documented;
mod failures;
mod kills;
mod landing;
mod launched;
mod seen;
mod stopping;
mod waves;
