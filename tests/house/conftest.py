"""The wheel is built and installed once for all tests of the house."""

from __future__ import annotations

import pytest

from .installed import Installed, build_wheel, install


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    return install(build_wheel(folder / "dist"), folder / "env")
