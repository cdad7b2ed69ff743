"""Builds the application, shows the window and closes both properly."""

import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QLocale,
    QMessageLogContext,
    QSocketNotifier,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from core.bundled import model_path
from core.errors import UserError
from core.files import is_there
from core.system import stop_signals
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.log import end_log, log_folder, start_log
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.documents import Kind, kind_of
from transformer_viz.shell.window import DEFAULT_SIZE, Window
from transformer_viz.startup.garbage import GarbageCollector
from transformer_viz.startup.launch import Options
from transformer_viz.startup.numpy_threads import use_one_thread
from transformer_viz.startup.opened_files import Application, FileRequests
from transformer_viz.startup.screenshot import Screenshot
from transformer_viz.state.bundled import FIRST_TEXT, icon
from transformer_viz.state.options import ThemeChoice
from transformer_viz.state.session import Session
from transformer_viz.state.settings import Settings, SettingsFile, config_folder, default_threads
from transformer_viz.widgets.dialogs import ErrorReport
from transformer_viz.widgets.style import ThemeManager
from transformer_viz.widgets.text_size import set_text_size


def run(options: Options) -> int:
    """Show the window until it is closed, or save its picture; return the exit code."""
    if options.screenshot is not None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(
        Qt.HighDpiScaleFactorRoundingPolicy.PassThrough
    )
    sys.setswitchinterval(0.001)  # the event loop need not wait longer for a thread that computes
    use_one_thread()
    app = Application(["transformer-viz"])
    app.setApplicationDisplayName("Transformer Viz")
    app.setDesktopFileName("transformer-viz")
    app.setWindowIcon(QIcon(str(icon())))
    QLocale.setDefault(QLocale.c())  # the interface is English: 0.6, never 0,6
    qInstallMessageHandler(_log_qt)
    log = None if options.screenshot else start_log(log_folder(options.config_dir))
    try:
        with _errors_shown(), _interruptible(app):
            code, hangs = _show(app, options, log)
    finally:
        end_log()
    if hangs:  # settings and log are written, and Python would wait for its threads for ever
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(code)
    return code


def _show(app: Application, options: Options, log: Path | None) -> tuple[int, bool]:
    """The exit code, and whether a thread does not end."""
    file = SettingsFile(_settings_folder(options))
    reset = file.set_aside() if options.reset else None
    loaded, notice = file.load()
    settings = _with_options(loaded, options)
    session = Session()
    threads = settings.threads
    engine = Engine(TorchBackend(threads or default_threads(), threads or os.cpu_count()))
    collector = GarbageCollector(app)
    engine.loaded.connect(collector.spare)
    controller = Controller(session, engine, settings, file)
    set_text_size(settings.text_size)
    try:
        window = Window(session, controller, ThemeManager(app, settings.theme), log)
        lost = _restore(window, session, controller, options)
    except BaseException:  # no thread may outlive a window that could not be built
        controller.close()
        raise
    size = options.size
    if size is None and options.screenshot is not None:
        size = DEFAULT_SIZE  # the screen that need not be there has no size to fit
    if size is not None:
        window.setWindowState(Qt.WindowState.WindowNoState)
        window.resize(*size)
    for sentence in filter(None, (reset, notice, lost and f"{lost}{file.keep_beside()}")):
        window.show_notice(sentence)
    requests = FileRequests(window.files.documents.open, window, options=_kept(options))
    requests.refused.connect(window.show_notice)
    app.fileWanted.connect(requests.add)
    window.show()
    requests.open_elsewhere(options.files[1:])
    # after the window has been painted, so that loading never delays it
    QTimer.singleShot(0, lambda: _start(window, controller, options))
    screenshot = None
    if options.screenshot is not None:
        screenshot = Screenshot(window, session, controller, engine, options.screenshot)
    code = app.exec()
    if window.isVisible():  # ended from outside: there is nobody to ask
        window.end()
    collector.stop()
    return code if screenshot is None else screenshot.exit_code, controller.hangs


def _restore(
    window: Window, session: Session, controller: Controller, options: Options
) -> str | None:
    """Show what the settings say was shown last; a sentence on the parts that could not be."""
    settings, comparison = controller.settings, controller.comparison
    first = FIRST_TEXT if settings.text is None else settings.text
    as_before = options.text is None and not options.files

    def compare() -> None:
        comparison.choose_text(settings.second_text)
        if settings.second_model and is_there(settings.second_model):
            comparison.choose_model(Path(settings.second_model))

    def show_text() -> None:
        if as_before:
            window.show_text(first, settings.selection, at=settings.sentence_start)
        else:
            window.show_text(first)

    parts: dict[str, Callable[[], None]] = {
        "options": lambda: session.change_options(**asdict(settings.options)),
        "comparison": compare,
        "text": show_text,
    }
    lost = []
    for name, restore in parts.items():
        try:
            restore()
        except Exception:
            logging.getLogger(__name__).exception("Could not restore: %s", name)
            lost.append(name)
    window.history.clear()
    return (
        f"These settings of the last session could not be restored: {', '.join(lost)}."
        if lost
        else None
    )


def _start(window: Window, controller: Controller, options: Options) -> None:
    """Open the model, and what was asked for beside it: a trace, a session or a text."""
    path = model_path(str(options.files[0])) if options.files else None
    settings, documents = controller.settings, window.files.documents
    if path is None or _kind(path) is Kind.CHECKPOINT:
        controller.open_first(path)
    else:
        controller.open_first()
        documents.open(path)
    if path is None and options.text is None and settings.trace:
        documents.open(Path(settings.trace), settings.selection)


def _kind(path: Path) -> Kind:
    try:
        return kind_of(path)
    except UserError:
        return Kind.CHECKPOINT  # whose reader says what is wrong


def _log_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Qt's own warnings, without the one that the offscreen plugin has for every window."""
    if "propagateSizeHints" not in message and kind is not QtMsgType.QtDebugMsg:
        print(f"Qt: {message}", file=sys.stderr)
        logging.getLogger("qt").warning(message)


def _kept(options: Options) -> list[str]:
    """What other windows are told as well."""
    folder = options.config_dir
    return [
        *(["--theme", options.theme] if options.theme else []),
        *(["--config-dir", str(folder.absolute())] if folder is not None else []),
    ]


def _settings_folder(options: Options) -> Path | None:
    """A screenshot neither reads nor changes what the user has set, unless told where."""
    if options.screenshot is not None and options.config_dir is None:
        return None
    return config_folder(options.config_dir)


def _with_options(settings: Settings, options: Options) -> Settings:
    return replace(
        settings,
        theme=ThemeChoice(options.theme or settings.theme),
        text=settings.text if options.text is None else options.text,
    )


@contextmanager
def _errors_shown() -> Iterator[None]:
    """An exception in a slot is logged and shown; the window lives on."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        details = "".join(traceback.format_exception(kind, error, trace))
        print(details, file=sys.stderr)
        logging.getLogger(__name__).error("Unexpected", exc_info=(kind, error, trace))
        if not any(isinstance(open_, ErrorReport) for open_ in QApplication.topLevelWidgets()):
            ErrorReport(f"{kind.__name__}: {error}", details, QApplication.activeWindow()).open()

    before, sys.excepthook = sys.excepthook, show
    try:
        yield
    finally:
        sys.excepthook = before


@contextmanager
def _interruptible(app: QApplication) -> Iterator[None]:
    """A signal to stop closes the window: a byte on a socket wakes Qt, so that Python sees it."""
    awake, wake = socket.socketpair()
    for end in (awake, wake):
        end.setblocking(False)
    notifier = QSocketNotifier(awake.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda: awake.recv(64))
    handlers = {
        number: signal.signal(number, lambda _number, _frame: app.exit())
        for number in stop_signals()
    }
    descriptor = signal.set_wakeup_fd(wake.fileno())
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        notifier.setEnabled(False)
        awake.close()
        wake.close()
