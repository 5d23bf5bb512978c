"""From a project's Jobs to a frozen manifest, through the pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.test import Client
from plural.benchmarks.publication import PublicationManifest

from benchmarks.models import Release
from hub.domain.records import StoredRecord, check_chain, parse_record
from hub.domain.stored import digest_of, parse_manifest, reference_of
from hub.models import Draft, Facet, Listing, Manifest, ManifestRecord, Publication, PublishedResult
from jobs import actions
from jobs.domain.retention import Rule
from jobs.models import Job, Trial
from jobs.retention import set_rule
from jobs.trimming import apply_rule, due
from plural_site.accounts.actions import set_project_member
from plural_site.accounts.models import AuditEvent, Machine, Project, ProjectMembership, ProjectRole, User
from tests.builders import START, AgentSpec, BenchmarkSpec, Outcome, agents_named, category, make_job, track
from tests.conftest import PASSWORD, ClientAs
from tests.importing import bring, record
from tests.publishing import Publisher

SPEC = BenchmarkSpec(
    tasks=("first", "second"),
    categories=(category("all", "first", "second", taxonomy="support:triage"),),
    tracks=(track(),),
)


@pytest.fixture
def jobs(project: Project, tmp_path: Path) -> Path:
    """Two Agents on a track, in two Jobs, and a third in a Job without one."""
    for name in ("steady", "quick"):
        record(
            project,
            tmp_path / name,
            benchmark=SPEC,
            agents=agents_named([name]),
            track_id="open",
            key=name,
            outcomes=lambda agent, task, *_: Outcome(
                score=1.0 if agent == "steady" or task == "first" else 0.0
            ),
        )
    record(project, tmp_path / "loose", benchmark=SPEC, agents=agents_named(["loose"]), key="loose")
    return tmp_path


@pytest.fixture
def ann_publishes(jobs: Path, client_as: ClientAs, ann: User) -> Publisher:
    return Publisher(client_as(ann))


def chain() -> list[StoredRecord]:
    return [StoredRecord(row.digest, bytes(row.body)) for row in ManifestRecord.objects.order_by("sequence")]


def public_rows() -> list[int]:
    return [
        model._default_manager.count()
        for model in (Manifest, ManifestRecord, PublishedResult, Listing, Facet, AuditEvent)
    ]


def test_what_was_shown_is_what_is_frozen(ann_publishes: Publisher, ann: User) -> None:
    before = public_rows()
    ann_publishes.start()
    digest = ann_publishes.to_the_check("steady", "quick", license="CC-BY-4.0")
    assert public_rows() == before, "a draft changes nothing that is public"
    shown = bytes(Draft.objects.get().candidate or b"")
    response = ann_publishes.freeze(digest)
    assert response.headers["Location"].endswith(f"/publish/done/{digest}")
    manifest = Manifest.objects.get()
    assert (bytes(manifest.body), manifest.digest, digest_of(shown)) == (shown, digest, digest)
    content = parse_manifest(shown)
    theirs = PublicationManifest.model_validate_json(shown)
    assert (theirs.digest, theirs.reference) == (digest, reference_of(content, digest))
    assert {result.score for result in content.results} == {1.0, 0.5}
    assert {result.provenance for result in content.results} == {"self_reported"}
    assert not Draft.objects.exists()
    assert check_chain(chain()) is None
    made = parse_record(chain()[0].body)
    assert (made.sequence, made.kind, made.manifest, made.by) == (1, "publish", digest, str(ann))
    assert set(PublishedResult.objects.values_list("label", "score")) == {("steady", 1.0), ("quick", 0.5)}
    listing = Listing.objects.get()
    assert (listing.title, listing.results, listing.is_withdrawn) == ("Demo Bench", 2, False)
    assert ("taxonomy", "support:triage") in listing.facets.values_list("kind", "value")
    event = AuditEvent.objects.get(verb="publication.publish")
    assert (event.actor, event.object_digest) == (ann, digest)


def test_the_page_after_publishing_may_be_loaded_and_sent_again(ann_publishes: Publisher) -> None:
    manifest = ann_publishes.publish("steady")
    again = ann_publishes.client.post(
        f"{ann_publishes.path}/check", {"digest": manifest.digest, "do": "freeze"}
    )
    for _ in range(2):
        page = ann_publishes.client.get(again.headers["Location"]).content.decode()
        assert manifest.digest in page and f"/hub/ann/demo-bench/manifests/{manifest.digest}" in page
    assert Manifest.objects.count() == 1


def test_private_material_is_not_in_the_manifest(ann_publishes: Publisher) -> None:
    body = bytes(ann_publishes.publish("steady").body).decode()
    for pin in Release.objects.get(resource__kind="benchmark").revision.pins.all():
        assert pin.task_revision.content["instructions"] not in body
    assert "loose" not in body


def test_steps_open_one_after_the_other_and_keep_their_answers(ann_publishes: Publisher) -> None:
    ann_publishes.start()
    early = ann_publishes.client.get(f"{ann_publishes.path}/check")
    assert early.headers["Location"].endswith("/publish/results")
    ann_publishes.pick("quick")
    ann_publishes.answer("disclosure", instructions="yes")
    ann_publishes.answer("text", purpose="To see.\nAnd to believe.", limitations="One.\n\n Two. ")
    page = ann_publishes.page("results")
    assert len(re.findall(r'name="pick"[^>]* checked', page)) == 1
    assert re.search(r'name="instructions"[^>]* checked', ann_publishes.page("disclosure"))
    assert "To see.\nAnd to believe." in ann_publishes.page("text") and "One.\nTwo." in ann_publishes.page(
        "text"
    )
    assert ann_publishes.client.get(f"{ann_publishes.path}/dessert").status_code == 404


def test_an_answer_from_an_old_page_is_not_kept(ann_publishes: Publisher) -> None:
    ann_publishes.start()
    response = ann_publishes.send("results", version=["1"], pick=ann_publishes.values("pick"))
    assert response.status_code == 409 and "changed meanwhile" in response.content.decode()
    assert Draft.objects.get().choices["picks"] == []


def test_what_can_not_be_picked_says_why_and_is_refused(ann_publishes: Publisher) -> None:
    ann_publishes.start()
    page = ann_publishes.page("results")
    assert "loose" in page and "ran on no track" in page
    assert len(ann_publishes.values("pick")) == 2
    (first, *_) = ann_publishes.values("pick")
    forged = first.replace("open@1.0.0", "")
    response = ann_publishes.send("results", pick=[forged])
    assert response.status_code == 422 and "not there any more" in response.content.decode()
    without = ann_publishes.send("results")
    assert "Pick at least one result" in without.content.decode()
    no_job = ann_publishes.send("results", pick=[first], job=None)
    assert "at least one Job" in no_job.content.decode()


def test_two_tasks_of_one_content_can_not_be_published(
    project: Project, tmp_path: Path, client_as: ClientAs, ann: User
) -> None:
    spec = BenchmarkSpec(tasks=("one", "two"), task_text={"one": "same", "two": "same"}, tracks=(track(),))
    record(project, tmp_path / "twins", benchmark=spec, track_id="open")
    release = Release.objects.get(resource__kind="benchmark")
    twins = release.revision.pins.values_list("task_digest", flat=True)
    publisher = Publisher(client_as(ann))
    publisher.client.post(publisher.path)
    response = publisher.send("release", release="1.0.0")
    if len(set(twins)) == 1:
        assert response.status_code == 422 and "same content (one, two)" in response.content.decode()
    else:
        assert response.status_code == 302


def test_text_needs_title_publisher_and_licence(ann_publishes: Publisher) -> None:
    ann_publishes.start()
    ann_publishes.pick("steady")
    ann_publishes.answer("disclosure")
    response = ann_publishes.send("text", license="", title=" ", publisher="", **{"applies-0": "no colon"})
    page = response.content.decode()
    assert response.status_code == 422
    for message in ("Give it a title", "Say who publishes it", "Choose a licence", "name: value"):
        assert message in page
    ann_publishes.answer("text", **{"applies-0": "language: en", "task-0": "Finds the first."})
    digest = ann_publishes.shown()
    ann_publishes.freeze(digest)
    task = parse_manifest(bytes(Manifest.objects.get().body)).tasks[0]
    assert (task.description, dict(task.applicability)) == ("Finds the first.", {"language": "en"})


def test_evidence_that_moved_is_shown_before_it_is_frozen(ann_publishes: Publisher) -> None:
    ann_publishes.start()
    shown = ann_publishes.to_the_check("steady")
    fields = {"version": Draft.objects.get().version, "digest": shown, "do": "freeze"}
    Trial.objects.filter(job_agent__name="steady", task_name="second").update(score=0.0)
    refused = ann_publishes.client.post(f"{ann_publishes.path}/check", fields)
    assert refused.status_code == 409 and "moved" in refused.content.decode()
    assert not Manifest.objects.exists()
    assert ann_publishes.shown() != shown
    assert ann_publishes.freeze().status_code == 302
    assert parse_manifest(bytes(Manifest.objects.get().body)).results[0].score == 0.5


def test_a_job_set_aside_leaves_nothing_to_publish(
    ann_publishes: Publisher, project: Project, ann: User
) -> None:
    ann_publishes.start()
    shown = ann_publishes.to_the_check("steady")
    job = Job.objects.get(agents__name="steady")
    actions.set_aside(actor=ann, project=project, job_id=job.client_job_id, reason="Wrong policy text.")
    fields = {"version": Draft.objects.get().version, "digest": shown, "do": "freeze"}
    refused = ann_publishes.client.post(f"{ann_publishes.path}/check", fields)
    assert refused.status_code == 409 and job.client_job_id in refused.content.decode()
    assert not Manifest.objects.exists()


def test_a_preview_of_yesterday_is_made_anew(ann_publishes: Publisher) -> None:
    now = datetime.now(UTC)
    ann_publishes.start()
    shown = ann_publishes.to_the_check("steady")
    fields = {"version": Draft.objects.get().version, "digest": shown, "do": "freeze"}
    assert ann_publishes.shown() == shown, "loading the page again changes nothing"
    with time_machine.travel(now + timedelta(hours=25)):
        refused = ann_publishes.client.post(f"{ann_publishes.path}/check", fields)
        assert refused.status_code == 409 and "out of date" in refused.content.decode()
        assert ann_publishes.shown() != shown


def test_whoever_publishes_second_sees_what_the_first_did(
    ann_publishes: Publisher, project: Project, ann: User, ben: User, client_as: ClientAs
) -> None:
    set_project_member(actor=ann, project=project, user=ben, role=ProjectRole.CONTRIBUTOR, may_publish=True)
    other = Publisher(client_as(ben))
    ann_publishes.start()
    other.start()
    assert "Ann has a draft of this too" in other.page("results")
    mine, theirs = ann_publishes.to_the_check("steady"), other.to_the_check("quick")
    late = {"version": Draft.objects.get(person=ben).version, "digest": theirs, "do": "freeze"}
    assert ann_publishes.freeze(mine).status_code == 302
    refused = other.client.post(f"{other.path}/check", late)
    assert refused.status_code == 409
    page = other.page("check")
    assert "Compared with manifest 1" in page
    assert other.freeze().status_code == 302
    assert check_chain(chain()) is None and ManifestRecord.objects.count() == 2
    labels = {
        found.label for found in parse_manifest(bytes(Manifest.objects.latest("pk").body)).configurations
    }
    assert labels == {"steady", "quick"}, "what was published first is carried over"


def test_a_replaced_result_says_why(ann_publishes: Publisher, project: Project, jobs: Path) -> None:
    ann_publishes.publish("steady", "quick")
    record(
        project,
        jobs / "rerun",
        benchmark=SPEC,
        agents=agents_named(["quick"]),
        track_id="open",
        key="rerun",
        outcomes=lambda *_: Outcome(score=1.0),
    )
    ann_publishes.start()
    (quick,) = [
        value
        for value in ann_publishes.values("pick")
        if PublishedResult.objects.get(label="quick").configuration in value
    ]
    silent = ann_publishes.send("results", pick=[quick])
    assert silent.status_code == 422 and "Say why the result of quick is replaced" in silent.content.decode()
    ann_publishes.answer("results", pick=[quick], **{f"why|{quick}": "Measured again."})
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text")
    assert ann_publishes.freeze(ann_publishes.shown()).status_code == 302
    content = parse_manifest(bytes(Manifest.objects.latest("pk").body))
    status = {result.id: result.status for result in content.results}
    (new,) = [result for result in content.results if result.supersedes]
    assert sorted(status.values()) == ["accepted", "accepted", "superseded"]
    assert status[str(new.supersedes)] == "superseded" and new.score == 0.75
    newest = ManifestRecord.objects.latest("pk")
    assert (newest.kind, newest.reason, newest.sequence) == ("correct", "Measured again.", 2)
    assert check_chain(chain()) is None


def test_a_result_and_then_the_release_are_withdrawn_and_come_back(ann_publishes: Publisher) -> None:
    first = ann_publishes.publish("steady", "quick")
    quick = PublishedResult.objects.get(label="quick").result_id
    ann_publishes.start()
    silent = ann_publishes.send("results", withdraw=[quick])
    assert silent.status_code == 422 and f"Say why {quick} is withdrawn" in silent.content.decode()
    ann_publishes.answer("results", withdraw=[quick], **{f"why|{quick}": "Wrong policy text."})
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text")
    assert ann_publishes.freeze(ann_publishes.shown()).status_code == 302
    assert (ManifestRecord.objects.latest("pk").kind, Listing.objects.get().results) == ("withdraw", 1)

    ann_publishes.start()
    unsaid = ann_publishes.send("results", withdraw_release="yes")
    assert unsaid.status_code == 422
    ann_publishes.answer("results", withdraw_release="yes", reason="The exam leaked.")
    assert "withdraw the release" in ann_publishes.page("check")
    assert ann_publishes.freeze(ann_publishes.shown()).status_code == 302
    content = parse_manifest(bytes(Manifest.objects.latest("pk").body))
    assert content.status == "withdrawn" and Listing.objects.get().is_withdrawn

    ann_publishes.start()
    assert "withdrawn" in ann_publishes.page("results")
    ann_publishes.answer("results", reason="It did not leak.")
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text")
    assert ann_publishes.freeze(ann_publishes.shown()).status_code == 302
    newest = ManifestRecord.objects.latest("pk")
    assert (newest.kind, newest.sequence, newest.reason) == ("restore", 4, "It did not leak.")
    assert check_chain(chain()) is None
    assert bytes(Manifest.objects.get(pk=first.pk).body) == bytes(first.body)
    for manifest in Manifest.objects.all():
        assert PublicationManifest.model_validate_json(bytes(manifest.body)).digest == manifest.digest


def test_nothing_is_published_twice(ann_publishes: Publisher) -> None:
    ann_publishes.publish("steady")
    ann_publishes.start()
    ann_publishes.answer("results")
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text")
    page = ann_publishes.page("check")
    assert "Nothing would change" in page
    assert ann_publishes.freeze().status_code == 409 and Manifest.objects.count() == 1


def test_a_changed_text_needs_a_reason(ann_publishes: Publisher) -> None:
    ann_publishes.publish("steady")
    ann_publishes.start()
    ann_publishes.answer("results")
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text", description="Said better.")
    refused = ann_publishes.freeze()
    assert refused.status_code == 409 and "why what is published changes" in refused.content.decode()
    ann_publishes.answer("results", reason="Said better.")
    assert ann_publishes.freeze(ann_publishes.shown()).status_code == 302
    assert ManifestRecord.objects.latest("pk").kind == "correct"


def test_an_ended_sign_in_loses_no_answer(ann_publishes: Publisher, ann: User) -> None:
    ann_publishes.start()
    ann_publishes.pick("steady")
    ann_publishes.answer("disclosure")
    fields = {"version": Draft.objects.get().version, "title": "Kept", "publisher": "A", "license": "MIT"}
    browser = Client()
    response = browser.post(f"{ann_publishes.path}/text", fields)
    page = response.content.decode()
    assert response.status_code == 401 and "what you sent is still there" in page
    kept = re.search(r'name="kept" value="([^"]*)"', page)
    assert kept
    back = browser.post("/sign-in", {"username": ann.email, "password": PASSWORD, "kept": kept[1]})
    page = back.content.decode()
    assert "You are signed in again" in page and 'name="title" value="Kept"' in page
    assert browser.post(f"{ann_publishes.path}/text", fields).status_code == 302
    assert Draft.objects.get().choices["text"]["title"] == "Kept"


def test_a_discarded_draft_leaves_nothing(ann_publishes: Publisher) -> None:
    ann_publishes.start()
    assert (
        "Nothing that is public changes"
        in ann_publishes.client.get(f"{ann_publishes.path}/discard").content.decode()
    )
    ann_publishes.client.post(f"{ann_publishes.path}/discard")
    assert not Draft.objects.exists() and not Publication.objects.exists()


def test_a_deleted_project_leaves_what_is_published(ann_publishes: Publisher, project: Project) -> None:
    manifest = ann_publishes.publish("steady")
    ann_publishes.start()
    page = ann_publishes.client.get(f"/projects/{project.slug}/settings/delete").content.decode()
    assert "Drafts of publications" in page
    done = ann_publishes.client.post(f"/projects/{project.slug}/settings/delete", {"slug": project.slug})
    assert done.status_code == 302 and not Draft.objects.exists()
    kept = Publication.objects.get()
    assert (kept.project, kept.resource, str(kept)) == (None, None, "ann/demo-bench")
    assert Manifest.objects.get().digest == manifest.digest


def test_an_import_that_a_publication_rests_on_stays(ann_publishes: Publisher, project: Project) -> None:
    run = Job.objects.get(agents__name="steady").import_run
    assert run is not None
    ann_publishes.start()
    ann_publishes.pick("steady")
    path = f"/projects/{project.slug}/imports/{run.pk}/undo"
    assert "A draft of Ann" in ann_publishes.client.get(path).content.decode()
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text")
    ann_publishes.freeze(ann_publishes.shown())
    assert "A published result rests on" in ann_publishes.client.get(path).content.decode()


def test_jobs_that_a_draft_or_a_manifest_names_keep_their_files(
    ann_publishes: Publisher, project: Project, ann: User
) -> None:
    """Those alone: other Jobs of the same import lose what the retention rule says."""
    steady = Job.objects.get(agents__name="steady")
    Job.objects.update(created_at=START, import_run=None, added_by=None)
    set_rule(actor=ann, project=project, rule=Rule(1, None, ("trajectories", "logs")))

    def held() -> dict[str, str]:
        plan = due(project)
        assert plan is not None
        assert plan.going
        return dict(plan.held)

    assert held() == {}
    ann_publishes.start()
    ann_publishes.pick("steady")
    assert set(held()) == {steady.client_job_id}
    assert "A draft of Ann" in held()[steady.client_job_id]
    ann_publishes.answer("disclosure")
    ann_publishes.answer("text")
    ann_publishes.freeze(ann_publishes.shown())
    assert set(held()) == {steady.client_job_id}
    assert "A published result rests on" in held()[steady.client_job_id]
    before = steady.size
    done = list(apply_rule(project, Machine.COMMAND))
    assert done
    assert steady.client_job_id not in {trimmed.job_id for trimmed in done}
    steady.refresh_from_db()
    assert steady.size == before


def test_the_right_to_publish_is_needed(ann_publishes: Publisher, ben: User, client_as: ClientAs) -> None:
    other = Publisher(client_as(ben))
    assert other.client.post(other.path).status_code == 403
    page = other.client.get("/projects/triage/publish").content.decode()
    assert "You have not been given the right to publish" in page and "Start a draft" not in page
    assert ProjectMembership.objects.filter(user=ben, may_publish=False).exists()


def test_agents_of_the_same_job_are_published_apart(
    project: Project, tmp_path: Path, ann: User, client_as: ClientAs
) -> None:
    bring(
        project,
        make_job(
            tmp_path,
            benchmark=SPEC,
            agents=[AgentSpec(name="a"), AgentSpec(name="b", model="x/b")],
            track_id="open",
        ),
    )
    manifest = Publisher(client_as(ann)).publish("a")
    body = parse_manifest(bytes(manifest.body))
    assert [found.label for found in body.configurations] == ["a"]
