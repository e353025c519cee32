from typing import Any

from django.contrib import messages
from django.forms import BaseForm, Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.generic import DetailView
from django.views.generic.edit import FormMixin

from accounts.audit import Actor, actor_of
from core.access import EditorMixin
from runs.editing import EditConflict, EditRefused


class ConfirmView(EditorMixin, FormMixin, DetailView):
    """Show a confirmation page on GET. On POST, make the change and redirect with a message.

    The texts of subclasses may contain placeholders such as {object.name}. `get_words` returns the
    values of the placeholders.
    """

    template_name = "core/confirm.html"
    form_class: type[BaseForm] = Form
    heading: str
    about = "{object.name}"
    sentences: tuple[str, ...]
    button: str
    is_destructive = False
    success_message: str
    success_url: Any
    form: BaseForm

    def change(self, by: Actor) -> None:
        raise NotImplementedError

    def get_words(self) -> dict[str, Any]:
        return {"object": self.object}

    def get_success_url(self) -> str:
        return str(self.success_url)

    def get_cancel_url(self) -> str:
        return self.get_success_url()

    def get_success_message(self) -> str:
        return self.success_message.format(**self.get_words())

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        words = self.get_words()
        return super().get_context_data(
            heading=self.heading.format(**words),
            about=self.about.format(**words),
            sentences=[sentence.format(**words) for sentence in self.sentences],
            **context,
        )

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        self.object = self.get_object()
        self.form, status = self.get_form(), 400
        if self.form.is_valid():
            message = self.get_success_message()
            try:
                self.change(actor_of(request))
            except EditRefused as refused:
                field = refused.attr if refused.attr in self.form.fields else None
                self.form.add_error(field, refused.sentence)
                status = 409 if isinstance(refused, EditConflict) else 400
            else:
                messages.success(request, message)
                return redirect(self.get_success_url())
        return self.render_to_response(self.get_context_data(form=self.form), status=status)
