import pytest

from soak.figures import Figures


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    return Figures(request.node.name.replace("/", "-").replace("[", "-").rstrip("]"))
