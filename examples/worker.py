"""A Lockstep task worker with Python's standard library alone:  python3 worker.py http://127.0.0.1:3000 charge ship"""
import json, os, sys, threading, time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL, TYPES, WORKER = sys.argv[1], sys.argv[2:], f"python-{os.getpid()}"

def call(verb, **body):
    request = Request(f"{URL}/api/v1/tasks/{verb}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)

def work(task, stopped):
    """Your code: return the output, or raise to fail the attempt; when `stopped` is set, nobody waits for it any more."""
    stopped.wait(task["input"].get("seconds", 0))
    return {"worker": WORKER, "attempt": task["attempt"], "key": task["idempotencyKey"]}

def keep_lease(task, stopped):
    while not stopped.wait(task["leaseMs"] / 3000):
        try:
            if call("heartbeat", token=task["token"])["cancel"]:
                stopped.set()
        except HTTPError as refused:
            if refused.code == 409:  # the lease is lost: another worker may have the task
                stopped.set()
        except (OSError, HTTPException):
            pass  # not reached, or cut off: the lease's time goes on

def perform(task):
    print(f"{WORKER} works on {task['idempotencyKey']}, attempt {task['attempt']}", flush=True)
    stopped = threading.Event()
    threading.Thread(target=keep_lease, args=(task, stopped), daemon=True).start()
    try:
        verb, answer = "complete", {"output": work(task, stopped)}
    except Exception as error:
        verb, answer = "fail", {"error": {"code": type(error).__name__, "message": str(error)}}
    stopped.set()
    call(verb, token=task["token"], **answer)

while True:
    try:
        claimed = call("claim", types=TYPES, workerId=WORKER, waitMs=20_000)
        for task in claimed["tasks"]:
            perform(task)
        if claimed["drain"]:  # an operator wants it to take no more
            break
    except (OSError, HTTPException) as error:  # refused, not reached, or cut off
        print(f"{WORKER}: {error}", file=sys.stderr, flush=True)
        time.sleep(1)
