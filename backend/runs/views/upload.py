import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from core.access import EditorMixin
from runs.acceptance import RunConflict
from runs.importing import ImportRequest, NoFigures, RunTaken, stored_request
from runs.models import Run
from runs.received import MAX_BYTES, NotAText
from runs.views.receiving import (
    FORM_BYTES,
    REQUEST_BYTES,
    FormRefused,
    receive_form,
    unpack,
)
from runs.views.upload_document import DocumentPreview, is_run_document
from runs.views.upload_forms import OptionsForm
from runs.views.upload_preview import TextPreview
from texts.types import Hints

NAME_LENGTH = 200
MOST_TEXTS, MOST_FIELDS = 50, 5_000
HOSTS_IN_LINK = 20


class Unread(NamedTuple):
    name: str
    problem: str


Item = TextPreview | DocumentPreview | Unread


@method_decorator(csrf_exempt, name="dispatch")  # checks the token after reading a limited amount
class UploadPage(EditorMixin, View):
    permission_required = "runs.add_run"

    def get(self, request: HttpRequest) -> HttpResponse:
        if saved := request.GET.getlist("saved"):
            return _saved(request, saved)
        return _stored(request) if "text" in request.GET else _page(request, OptionsForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            receive_form(request)
            response: HttpResponse = csrf_protect(self.received)(request)
        except FormRefused as refusal:
            return _page(request, OptionsForm(), status=refusal.status, problem=str(refusal))
        return response

    def received(self, request: HttpRequest) -> HttpResponse:
        options = OptionsForm(request.POST)
        if not options.is_valid():
            return _page(request, options, status=400, text=request.POST.get("text", ""))
        items = list(_items(request, options.hints()))
        problem = "" if items else "Paste text or choose a file."
        return _page(request, options, items, problem=problem)


class SaveUpload(UploadPage):
    http_method_names = ("post",)

    def received(self, request: HttpRequest) -> HttpResponse:
        options = OptionsForm(request.POST, prefix="read")
        if not options.is_valid():
            raise FormRefused("The form data is corrupt. Choose the file again.")
        items = list(_items(request, options.hints()))
        previews = [item for item in items if not isinstance(item, Unread)]
        try:
            ids = _store(previews, cast(User, request.user))
        except FormRefused as refusal:
            shown = {"problem": str(refusal), "conflict": refusal.run_id}
            return _page(request, options, items, refusal.status, **shown)
        query = QueryDict(mutable=True)
        query.setlist("saved", ids)
        return redirect(f"{reverse('upload')}?{query.urlencode()}")


def _store(previews: Sequence[TextPreview | DocumentPreview], person: User) -> list[str]:
    chosen = [preview for preview in previews if preview.chosen]
    if not chosen:
        raise FormRefused("Select at least one result.")
    if [preview for preview in chosen if not preview.is_valid()]:
        raise FormRefused("Nothing was saved. Correct the marked fields.")
    ids = []
    try:
        with transaction.atomic():
            for preview in chosen:
                ids.append(str(preview.save(person)))
    except NoFigures as error:
        raise FormRefused(str(error)) from None
    except RunTaken as taken:
        raise FormRefused(f"{taken} Nothing was saved.", 409, taken.run_id) from None
    except RunConflict:
        run_id = UUID(preview.raw["run_id"]) if isinstance(preview, DocumentPreview) else None
        problem = "Another run has this run_id. Nothing was saved."
        raise FormRefused(problem, 409, run_id) from None
    return ids


def _texts(request: HttpRequest) -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, the bytes and the error message of each text in the form.

    The error message of a valid text is empty.
    """
    names = request.POST.getlist("name")
    for name, packed in zip(names, request.POST.getlist("packed"), strict=False):
        yield name[:NAME_LENGTH], unpack(packed), ""
    # Browsers submit text areas with CRLF.
    pasted = request.POST.get("text", "").replace("\r\n", "\n").encode()
    if pasted.strip():
        yield "Pasted text", pasted, _fault(pasted, len(pasted))
    for file in request.FILES.getlist("files"):
        body = file.read()
        yield (file.name or "File")[:NAME_LENGTH], body, _fault(body, file.size or 0)


def _fault(body: bytes, size: int) -> str:
    if size > MAX_BYTES:
        return f"Too large: {size / 2**20:.1f} MiB. The limit is {MAX_BYTES >> 20} MiB."
    if len(body) < size:
        most = FORM_BYTES >> 20
        return f"This upload exceeds {most} MiB. Upload this file separately."
    return "" if body.strip() else "The file is empty."


def _items(request: HttpRequest, hints: Hints) -> Iterator[Item]:
    number, fields = 0, 0
    for name, body, fault in _texts(request):
        if number == MOST_TEXTS or fields > MOST_FIELDS:
            fault = "Too many results for one page. Upload this file separately."
        item = Unread(name, fault) if fault else _read(request, hints, name, number, body)
        yield item
        if not isinstance(item, Unread) and item.packed:
            number, fields = number + 1, fields + item.fields


def _read(request: HttpRequest, hints: Hints, name: str, number: int, body: bytes) -> Item:
    if hints.format is None and is_run_document(body):
        is_ticked = "save" not in request.POST or f"{number}-take" in request.POST
        return DocumentPreview(name, number, body, is_ticked)
    try:
        return TextPreview(name, number, ImportRequest(body, hints), request.POST)
    except NotAText as error:
        return Unread(name, str(error))


def _stored(request: HttpRequest) -> HttpResponse:
    try:
        import_id = UUID(request.GET["text"])
    except ValueError:
        raise Http404 from None
    stored = stored_request(import_id)
    if stored is None:
        raise Http404
    given = {name: answer for name, answer in vars(stored.hints).items() if answer}
    preview = TextPreview("Stored text", 0, stored, QueryDict())
    runs = Run.objects.filter(imported_text__import_id=import_id)
    return _page(request, OptionsForm(initial=given), [preview], runs=runs)


def _page(
    request: HttpRequest,
    options: OptionsForm,
    items: Sequence[Item] = (),
    status: int = 200,
    **shown: Any,
) -> HttpResponse:
    previews = [item for item in items if not isinstance(item, Unread) and item.packed]
    has_results = any(isinstance(each, DocumentPreview) or each.sections for each in previews)
    texts = [preview.understood.text for preview in previews if isinstance(preview, TextPreview)]
    answers = {name: options[name].value() for name in options.fields}
    context = {
        "options": OptionsForm(options.data or None, initial=options.initial),
        "read_options": OptionsForm(prefix="read", initial=answers),
        "items": items,
        "text": texts[0] if texts and not has_results else "",
        "most_bytes": REQUEST_BYTES,
        **shown,
    }
    template = "runs/upload_preview.html" if has_results else "runs/upload.html"
    return render(request, template, context, status=status)


def _saved(request: HttpRequest, saved: Sequence[str]) -> HttpResponse:
    """Show the saved runs until all are processed. Then redirect to a comparison of these runs."""
    context = saved_upload(saved)
    if not context:
        raise Http404
    if all(run.status == Run.Status.READY for run in context["runs"]):
        return redirect(f"{reverse('compare')}?{context['chart']}")
    return render(request, "runs/upload_saved.html", context)


def saved_upload(saved: Sequence[str]) -> dict[str, Any]:
    """Return the template context for saved imports and runs.

    `saved`: IDs of imports and runs. Return {} if an ID is not a UUID or if no run exists.
    """
    try:
        ids = [UUID(run_id) for run_id in saved]
    except ValueError:
        return {}
    saved_runs = Q(run_id__in=ids) | Q(imported_text__import_id__in=ids)
    runs = list(Run.objects.filter(saved_runs).select_related("host", "document").order_by("id"))
    if not runs:
        return {}
    results = Counter[tuple[str, str | None]]()
    for run in runs:
        for measurement in json.loads(run.document.received)["measurements"]:
            target = measurement.get("target") or {}
            results[measurement["tool"], target.get("kind")] += len(measurement["samples"])
    hosts = list(dict.fromkeys(run.host for run in runs if run.host))
    chart = QueryDict(mutable=True)
    (chart["tool"], target_kind), _ = results.most_common(1)[0]
    chart["group_by"] = "host"
    if target_kind == "remote":
        chart["target_kind"] = target_kind
    chart.setlist("host", [host.slug for host in hosts[:HOSTS_IN_LINK]])
    chart.setlist("saved", list(saved))
    return {
        "runs": runs,
        "results": results.total(),
        "hosts": hosts,
        "names": {run.host_name for run in runs},
        "chart": chart.urlencode() if hosts else "",
        "is_processing": any(run.status == Run.Status.ACCEPTED for run in runs),
    }
