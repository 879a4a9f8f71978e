//! Tools of Python that are asked for by the name of a module.

use omo_core::check::steering::is_python_module;

/// Whether Python has a module of this name that it is asked to run, once that is installed.
pub(super) fn is_installed_module(name: &str) -> bool {
    const TOOLS: &str = "\
        behave django flake8 hypothesis invoke isort black mypy nose2 nox pip pre_commit pycodestyle pyflakes pylint \
        pyright ruff slipcover tox trial twisted virtualenv build vulture bandit robot green twine sphinx mkdocs";
    is_python_module(name) || TOOLS.split_ascii_whitespace().any(|known| known == name)
}
