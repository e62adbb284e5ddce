"""One trace that holds something of everything, for the tests of forms and of reading."""

from stepscope.testing import A100, Setup, TraceBuilder


def everything():
    flags = ("with_stack", "profile_memory")
    trace = TraceBuilder(Setup(gpus=(A100,), rank=0, world_size=2, flags=flags))
    with trace.frame("train.py(1): <module>"):
        for number in range(3):
            with trace.step(number), trace.frame("train.py(9): train"):
                trace.loader_wait(20_000_123, workers=number > 0)
                trace.copy("HtoD", 1 << 20, 100_007, pinned=number % 2 == 0)
                with trace.op("aten::linear", inputs=[((3, 4), "float")], sequence=number + 1):
                    trace.launch("ampere_sgemm_128x64_tn", 4_000_011)
                    trace.allocate(4096, device=0)
                with trace.backward():
                    with trace.op("LinearBackward0", sequence=number + 1, backward=True):
                        trace.launch('odd "name" \\ </script>', 1_001, driver=True)
                    trace.collective("allreduce", 100, 50_000)
                trace.wait_for_communication()
                with trace.optimizer():
                    trace.launch("adam", 3_000, stream=8)
                    trace.set_memory(4096, 1_500)
                trace.allocate(-4096, device=0)
                trace.item()
                trace.replay_graph([("a", 11), ("b", 20)])
                trace.synchronize()
    return trace
