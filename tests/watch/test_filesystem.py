"""File systems from a table of mounts, and a look at data."""

import pytest

from stepscope.errors import InputError
from stepscope.watch import data_folder
from stepscope.watch.data_folder import look_at_data
from stepscope.watch.filesystem import file_system, kind_of


def table(folder, *rows):
    path = folder / "mountinfo"
    lines = [
        f"{n} 1 0:{n} / {point} rw shared:1 - {kind} dev rw" for n, (point, kind) in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_longest_mount_holds_a_path(tmp_path):
    data = tmp_path / "scratch" / "data"
    data.mkdir(parents=True)
    mountinfo = table(
        tmp_path, ("/", "ext4"), (tmp_path / "scratch", "lustre"), (f"{tmp_path}/scr", "nfs4")
    )
    found = file_system(data, mountinfo)
    assert (found.type, found.kind, found.is_parallel) == ("lustre", "network", True)
    assert found.mount == str(tmp_path / "scratch")
    assert file_system(tmp_path, mountinfo).type == "ext4"


def test_a_later_mount_hides_an_earlier_one(tmp_path):
    assert file_system(tmp_path, table(tmp_path, ("/", "ext4"), ("/", "overlay"))).type == "overlay"


def test_a_path_that_is_not_there_is_judged_by_its_folder(tmp_path):
    found = file_system(tmp_path / "a" / "b", table(tmp_path, ("/", "xfs")))
    assert (found.type, found.path) == ("xfs", str(tmp_path / "a" / "b"))
    assert found.total_bytes > 0


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    mountinfo = table(tmp_path, ("/", "ext4"), (tmp_path / "real", "gpfs"))
    assert file_system(tmp_path / "link", mountinfo).type == "gpfs"


def test_without_a_table_the_type_is_unknown(tmp_path):
    assert file_system(tmp_path, tmp_path / "none").kind == "unknown"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("nfs4", "network"), ("tmpfs", "memory"), ("xfs", "local"), ("fuse.sshfs", "network"), ("fuse.mystery", "unknown")],
)  # fmt: skip
def test_kinds(name, kind):
    assert kind_of(name) == kind


def test_data_are_looked_at(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"x" * 100)
    (tmp_path / "sub" / "b").write_bytes(b"x" * 300)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    seen = look_at_data(tmp_path)
    assert (seen.files, seen.all_seen, seen.mean_bytes) == (2, True, 200)
    assert look_at_data(tmp_path / "a").mean_bytes == 100


def test_a_large_folder_is_looked_at_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(data_folder, "MOST_FILES", 3)
    for number in range(5):
        (tmp_path / str(number)).write_bytes(b"")
    seen = look_at_data(tmp_path)
    assert (seen.files, seen.all_seen) == (3, False)


def test_an_empty_folder_has_no_mean(tmp_path):
    assert look_at_data(tmp_path).mean_bytes is None


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        look_at_data(tmp_path / "none")
