"""Scratch folders and their measured speed."""

from stepscope.schema.site import Partition, Scratch, Site
from stepscope.watch import scratch
from stepscope.watch.scratch import expanded, scratch_folders


def site(*paths):
    return Site(
        name="S", organisation="", country="NL", cluster_names=("s",), unit="u", charging="", date="",
        source="", partitions=(Partition(name="p", device="H100", gpus_per_node=1, cores_per_gpu=1, memory_gib_per_gpu=1, units_per_gpu_hour=1),),
        scratch=tuple(Scratch(path=path, kind="local", note="the note") for path in paths),
    )  # fmt: skip


def test_variables_are_replaced_or_the_folder_is_left_out():
    assert str(expanded("/s/$USER/x", {"USER": "ada"})) == "/s/ada/x"
    assert expanded("$NOPE/x", {}) is None
    assert expanded("$EMPTY", {"EMPTY": ""}) is None


def test_each_real_folder_is_measured_once_and_nothing_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "USUAL", ("$TMPDIR", "$AGAIN"))
    monkeypatch.setattr(scratch, "MOST_BYTES", 1 << 20)
    (tmp_path / "link").symlink_to(tmp_path)
    environ = {"TMPDIR": str(tmp_path), "AGAIN": str(tmp_path / "link")}
    found = scratch_folders(environ, site(str(tmp_path), "/not/there"))
    assert [(folder.system.path, folder.note) for folder in found] == [(str(tmp_path), "the note")]
    assert found[0].write_bytes_per_s is not None
    assert found[0].write_bytes_per_s > 0
    assert found[0].files_per_s is not None
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_a_folder_that_cannot_be_written_to_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "USUAL", (str(tmp_path),))

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    (found,) = scratch_folders({}, None)
    assert found.reason == "it cannot be written to (Permission denied)"
    assert found.files_per_s is None


def test_a_full_folder_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "USUAL", (str(tmp_path),))
    monkeypatch.setattr(scratch, "MOST_BYTES", 1 << 60)
    (found,) = scratch_folders({}, None)
    assert found.reason == "it is nearly full"
