"""Answer: what every study returns. It holds still, can be drawn, and leaves as labelled data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import SuppleError
from ..on_demand import ModuleOnDemand
from .immutable import Immutable, as_html, as_html_text
from .registry import duty, import_function, require_duty

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import xarray
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
else:
    np = ModuleOnDemand("numpy")

__all__ = ["Answer", "Natural", "Plotted", "Shown"]


class Shown:
    """What can be looked at in the browser: a Robot, and every answer that has a Scene."""

    def show(self, host: str = "127.0.0.1", port: int = 8080, **door: Any) -> Any:
        """Show it live in the browser; returns at once where one can go on typing.

        `listen_on_network=True` is needed for a host that other machines reach; `allow_origin`
        names pages that may use it too, such as https://hub.example.org.
        """
        live = import_function("view.live.live:serve")(self, host, port, **door)
        print(live.sentence)  # noqa: T201 - the reader must know where to look
        import_function("view.live.live:open_browser")(live.url)
        if not hasattr(sys, "ps1") and "ipykernel" not in sys.modules:
            live.wait()
        return live

    def save_page(self, path: str | Path, **options: Any) -> Path:
        """Write one HTML page with the answer to play with; it needs no network."""
        page: Path = import_function("view.page.reports:save_report")(self, path, **options)
        return page


class Natural:
    """What has natural frequencies `omega`, rad/s."""

    omega: Any

    @property
    def frequency_hz(self) -> NDArray[np.float64]:
        """Natural frequencies in Hz, shaped as omega."""
        return np.asarray(self.omega / (2 * np.pi))


class Plotted:
    """What can be drawn with matplotlib, as the registry says."""

    def plot(self, path: str | Path | None = None, **options: Any) -> Figure:
        """Draw it, and write the picture if a path is given; never blocks."""
        draw = require_duty(self, "plot", "plotted")
        takes = list(signature(draw).parameters)[2:]
        for name in options:
            if name not in takes:
                allowed = f"it takes path, {', '.join(takes)}" if takes else "it takes a path alone"
                raise SuppleError(f"plot of {type(self).__name__} takes no '{name}': {allowed}")
        figure: Figure = draw(self, path, **options)
        return figure


class Answer(Immutable, Shown, Plotted):
    """What a study returns. Its arrays are copies, read-only; equal answers compare equal.

    An answer says what its arrays run over, and has all else from that:

    `dims`: for each array the names of its axes, such as {"omega": ("mode",)}; one axis more
    in front is the configurations of a batch.  `table_rows`: the axes along which a table has its
    rows.  `columns`: what stands in it; all that runs along its rows unless given.  `units`: of the
    arrays.  `labels`: for axes whose entries have names or numbers these, the field that holds
    them, or a function of the answer that finds them.
    """

    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    table_rows: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ()
    units: ClassVar[Mapping[str, str]] = {}
    labels: ClassVar[Mapping[str, str | tuple[str, ...] | Callable[[Any], Any]]] = {}

    def to_xarray(self) -> xarray.Dataset:
        """Return it as a labelled Dataset."""
        from .tables import dataset

        data: xarray.Dataset = (duty(self, "dataset") or dataset)(self)
        return data

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a table, an axis with names spread over columns."""
        from .tables import frame

        table: pandas.DataFrame = (duty(self, "table") or frame)(self)
        return table

    def to_csv(self) -> str:
        """Return the table as text, numbers with every digit."""
        text: str = self.to_pandas().to_csv()
        return text

    def save(self, path: str | Path) -> None:
        """Write it as netCDF (.nc), which any netCDF tool reads."""
        import_function("studies.storage:save")(self, path)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        if duty(self, "text") is not None:
            return as_html_text(self._title, repr(self))
        from .tables import SHOWN_ROWS

        table = self.to_pandas()
        more = f"<p>{SHOWN_ROWS} of {len(table)} rows; <code>.to_pandas()</code> has all.</p>"
        head = table.iloc[:SHOWN_ROWS, :8].to_html(border=0, float_format="{:.6g}".format)
        return (
            f"{as_html(self._title, self._summary_rows())}{head}{more * (len(table) > SHOWN_ROWS)}"
        )
