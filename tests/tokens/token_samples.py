"""Texts of many kinds, written for these tests: what an estimate has to get right."""

import base64
import hashlib
import json

ENGLISH = (
    """The harbour was quiet when we arrived, and for a while nobody said anything. Fishing boats lay against the wall,
their nets drying in the last of the sun, and somewhere behind the sheds a radio was playing a song that everyone of
my age would have known. My sister put down her suitcase and looked at the water. "It is smaller than I remember," she
said at last. I told her that most things are. We had been children here for eleven summers, and in my memory the
lighthouse stood at the end of a road so long that we took sandwiches for the walk; in fact it took us six minutes.""",
    """Before we change the scheduler, let's agree on what is actually wrong with it. Jobs are not lost: every job that
was accepted has eventually run. What people complain about is the delay, and the delay comes from one decision, which
is that a worker asks for a single job at a time and waits for an answer. With two hundred workers and a slow network
that means the queue spends most of its day saying "not yet". I would rather hand out small batches, measure again, and
only then talk about replacing the database. If the numbers do not move, we have learned something for very little.""",
    """To make the bread, mix the flour, water and salt, and leave the dough alone for half an hour before you add the
yeast. Resting first lets the flour drink, so you will need far less kneading. Fold the dough four times over the next
two hours, shape it gently, and let it rise in the fridge overnight. In the morning, heat the oven as hot as it will go,
with a heavy pot inside. Bake the loaf for twenty minutes with the lid on and another twenty-five without. It should be
darker than you think is right; a pale crust tastes of nothing, and the crumb inside will still be damp.""",
)

PYTHON = '''from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(order=True)
class Job:
    due: float
    name: str = field(compare=False)
    retries: int = field(default=0, compare=False)


class Queue:
    """Jobs in the order in which they are due."""

    def __init__(self, limit: int = 1000) -> None:
        self._heap: list[Job] = []
        self._limit = limit

    def push(self, job: Job) -> bool:
        if len(self._heap) >= self._limit:
            return False
        heapq.heappush(self._heap, job)
        return True

    def due(self, now: float) -> Iterator[Job]:
        while self._heap and self._heap[0].due <= now:
            yield heapq.heappop(self._heap)

    def retry(self, job: Job, *, delay: float, most: int = 5) -> None:
        if job.retries >= most:
            raise RuntimeError(f"{job.name}: given up after {job.retries} attempts")
        self.push(Job(job.due + delay * 2**job.retries, job.name, job.retries + 1))
'''

GO = """package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var ErrNotFound = errors.New("store: not found")

type entry struct {
	value   []byte
	expires time.Time
}

// Memory keeps values until they expire.
type Memory struct {
	mu    sync.RWMutex
	items map[string]entry
	now   func() time.Time
}

func NewMemory() *Memory {
	return &Memory{items: make(map[string]entry), now: time.Now}
}

func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("get %q: %w", key, err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.items[key]
	if !ok || m.now().After(e.expires) {
		return nil, ErrNotFound
	}
	return e.value, nil
}

func (m *Memory) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items[key] = entry{value: value, expires: m.now().Add(ttl)}
	return nil
}
"""

TYPESCRIPT = """import { useCallback, useEffect, useState } from "react";
import type { Session, Message } from "./types";

interface Props {
  sessionId: string;
  onError?: (error: Error) => void;
}

export function useMessages({ sessionId, onError }: Props) {
  const [messages, setMessages] = useState<Message[]>([]);
  const [loading, setLoading] = useState(false);

  const load = useCallback(async () => {
    setLoading(true);
    try {
      const response = await fetch(`/api/sessions/${encodeURIComponent(sessionId)}/messages`);
      if (!response.ok) {
        throw new Error(`HTTP ${response.status}`);
      }
      const data: { items: Message[] } = await response.json();
      setMessages(data.items.filter((item) => item.role !== "system"));
    } catch (error) {
      onError?.(error as Error);
    } finally {
      setLoading(false);
    }
  }, [sessionId, onError]);

  useEffect(() => {
    void load();
  }, [load]);

  return { messages, loading, reload: load } as const;
}
"""

SQL = """CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    parent_id     TEXT REFERENCES sessions(id),
    started_at    TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ended_at      TIMESTAMP,
    end_reason    TEXT CHECK (end_reason IN ('user', 'compression', 'error')),
    model         TEXT NOT NULL
);

CREATE INDEX sessions_by_parent ON sessions (parent_id, started_at DESC);

WITH RECURSIVE chain AS (
    SELECT id, parent_id, 0 AS depth FROM sessions WHERE id = :tip
    UNION ALL
    SELECT s.id, s.parent_id, chain.depth + 1
    FROM sessions AS s JOIN chain ON s.id = chain.parent_id
)
SELECT chain.id, chain.depth, COUNT(m.id) AS messages, SUM(m.tokens) AS tokens
FROM chain LEFT JOIN messages AS m ON m.session_id = chain.id
GROUP BY chain.id, chain.depth
HAVING COUNT(m.id) > 0
ORDER BY chain.depth;

UPDATE messages SET archived = TRUE WHERE session_id = 'a81f' AND created_at < NOW() - INTERVAL '30 days';
"""

_ORDERS = [
    {
        "id": f"ord_{1000 + 37 * i}",
        "customer": {
            "name": name,
            "email": f"{name.split()[0].lower()}@example.org",
            "since": f"20{12 + i}-0{i + 1}-17",
        },
        "items": [
            {"sku": f"BK-{i}{n}-{'XS' if n else 'L'}", "title": title, "quantity": n + 1, "unit_price": 12.5 + 3 * i}
            for n, title in enumerate(("Atlas of small islands", "Notebook, squared"))
        ],
        "shipped": i % 2 == 0,
        "tracking_number": None if i % 2 else "1Z999AA10123456784",
    }
    for i, name in enumerate(("Ada Byron", "Grace Hopper", "Emmy Noether", "Sofia Kovalevskaya"))
]
_SCHEMA = {
    "type": "function",
    "function": {
        "name": "search_files",
        "description": "Find files whose name or content matches a pattern. Returns at most `limit` paths.",
        "parameters": {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression."},
                "path": {"type": "string", "description": "Directory to search, relative to the project root."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
                "case_sensitive": {"type": "boolean", "default": False},
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
    },
}

CHINESE = (
    """昨天晚上我们开了一个很长的会，讨论新系统上线之后出现的几个问题。大家都同意，最重要的不是马上增加功能，而是先弄清楚为什么用户
在第三步就离开了。小王做了一张图，把每个页面停留的时间都标了出来，我们才发现，原来很多人根本没有看到“下一步”的按钮。手机屏幕太小，
按钮被键盘挡住了。这样的问题在办公室里是看不见的，只有在地铁上、在菜市场里，拿着一部旧手机的时候才会遇到。""",
    """我的祖父是一个木匠，他一辈子住在江边的小镇上。每年春天涨水的时候，他都要把工具搬到二楼去，等水退了再搬下来。小时候我问他，为什么
不搬到高一点的地方住，他笑着说，搬走了就听不见船的声音了。后来我到北京读大学，工作，结婚，住在二十三层的楼上，窗外只有汽车的声音。有一年
冬天他打电话来，说江上结了薄冰，船都停了，镇子安静得像睡着了一样。我握着电话，很久没有说话。""",
    """安装之前，请先确认操作系统的版本不低于要求，并且磁盘上至少有两个GB的可用空间。下载完成后，打开终端，进入解压后的目录，运行安装脚本。
如果提示权限不足，请使用管理员账户重新执行。安装程序会自动检测已有的配置文件：如果找到旧版本，会先备份，然后再升级数据库。整个过程大约
需要五分钟。完成以后，可以用浏览器访问本机的8080端口，看到欢迎页面就说明安装成功了。如果遇到错误，请把日志文件发给我们，并说明您使用的
环境和操作步骤。""",
)

JAPANESE = (
    """駅前の小さな喫茶店で、彼は毎朝同じ席に座って新聞を読んでいた。店の主人は何も聞かずにコーヒーを出し、彼も何も言わずに代金を置いて
出ていく。そんな日々が三年ほど続いたある日、彼の席には「予約席」と書かれた札が置かれていた。「今日からここはあなたの席です」と主人は
言った。「長い間ありがとうございました。実は来月、この店を閉めることにしたんです。」彼はしばらく黙っていたが、やがて新聞をたたんで、
初めて店の中をゆっくりと見回した。""",
    """この関数は、指定されたディレクトリの中にあるファイルを順番に読み込み、条件に一致した行だけを返します。引数として正規表現を渡すことが
できますが、大文字と小文字は区別されるので注意してください。ファイルの数が多い場合は、処理に時間がかかることがあります。そのときは、並列で
実行するオプションを有効にすると速くなります。エラーが発生した場合は例外が投げられるので、呼び出し側で必ず処理を書いてください。詳しい
使い方については、次の章で説明します。""",
    """週末に友達と山に登りました。天気予報では雨と言われていたので心配していましたが、朝起きてみると空はきれいに晴れていました。頂上までは
思ったより遠くて、途中で何度も休まなければなりませんでしたが、上から見た景色は本当に素晴らしかったです。持ってきたおにぎりを食べながら、
みんなで写真を撮りました。帰りの電車では全員が眠ってしまって、もう少しで降りる駅を過ぎてしまうところでした。""",
)

KOREAN = (
    """어제는 오랜만에 고등학교 친구들을 만났다. 다들 바쁘게 사느라 일 년에 한 번 보기도 어렵지만,
막상 만나면 어제 헤어진 것처럼 이야기가 끊이지 않는다. 우리는 학교 앞에 있던 분식집에 갔는데,
주인 아주머니가 아직도 우리 이름을 기억하고 계셔서 깜짝 놀랐다. 떡볶이 맛도 그대로였다.
집에 돌아오는 길에 문득, 시간이 흘러도 변하지 않는 것이 있다는 사실이 고맙게 느껴졌다.""",
    """이 문서는 새 버전에서 바뀐 점을 설명합니다. 먼저 설정 파일의 형식이 달라졌으므로 업그레이드하기
전에 반드시 백업을 해 두시기 바랍니다. 이전 버전의 설정은 자동으로 변환되지만, 사용자가 직접 추가한
항목은 그대로 남지 않을 수 있습니다. 서버를 다시 시작한 뒤 로그에 오류가 없는지 확인하고, 문제가
있으면 아래의 주소로 연락해 주십시오. 데이터베이스는 그대로 사용할 수 있습니다.""",
    """주말마다 할머니 댁 텃밭에서 상추와 고추를 심었다. 흙을 고르고 물을 주는 일은 생각보다 힘들었지만,
며칠 뒤 새싹이 돋은 것을 보니 피곤함이 싹 가셨다. 할머니는 벌레 먹은 잎을 골라내며 옛날이야기를
들려주셨고, 나는 그 곁에 쪼그리고 앉아 귀를 기울였다. 해가 지면 툇마루에 앉아 수박을 쪼개 먹었다.""",
)

RUSSIAN = (
    """Поезд пришёл на станцию поздно вечером, когда на платформе уже никого не было. Шёл мелкий дождь, и
фонари отражались в лужах. Она поставила чемодан на скамейку и огляделась: всё было так же, как двадцать лет
назад, только вместо деревянного вокзала стояло новое здание из стекла. Никто её не встречал, да она никому и
не писала о своём приезде. Нужно было идти пешком через весь посёлок, мимо школы, мимо старой мельницы, к дому,
в котором теперь жили чужие люди.""",
    """Перед тем как обновить программу, сохраните все открытые документы и проверьте, хватает ли места на
диске. Установка занимает около десяти минут и не требует подключения к сети. Если во время установки появится
сообщение об ошибке, не закрывайте окно: скопируйте текст сообщения и отправьте его в службу поддержки. После
перезагрузки система проверит базу данных и при необходимости восстановит повреждённые записи. Старые настройки
сохранятся, но некоторые параметры придётся указать заново.""",
    """Мы долго спорили о том, стоит ли переписывать этот модуль. С одной стороны, он работает уже пять лет, и
пользователи к нему привыкли. С другой стороны, каждое новое требование приводит к тому, что приходится менять
код в десяти местах, и никто уже не понимает, почему он устроен именно так. В конце концов решили начать с
тестов: сначала описать то, что есть, а потом менять понемногу, каждый раз проверяя, что ничего не сломалось.""",
)

HEX = "\n".join(hashlib.sha256(f"commit {i}".encode()).hexdigest() for i in range(40))
HEX_RUN = "".join(hashlib.sha512(f"block {i}".encode()).hexdigest() for i in range(20))
BASE64 = base64.b64encode(b"".join(hashlib.sha512(f"key {i}".encode()).digest() for i in range(40))).decode()
BASE64_LINES = base64.encodebytes(b"".join(hashlib.sha512(f"row {i}".encode()).digest() for i in range(30))).decode()

LOG = "\n".join(
    f"2026-03-{1 + i % 28:02} {i % 24:02}:{7 * i % 60:02}:{13 * i % 60:02},{97 * i % 1000:03} {level} [{place}] {words}"
    for i, (level, place, words) in enumerate(
        [
            ("INFO", "http.server", "GET /api/sessions/42/messages 200 in 13 ms"),
            ("DEBUG", "db.pool", "connection 7 returned to pool (3 of 20 in use)"),
            ("WARNING", "scheduler", "job nightly-report is 45 seconds late, retrying"),
            ("ERROR", "worker-3", "failed to open '/var/lib/app/cache.db': permission denied (errno 13)"),
            ("INFO", "gateway", "request_id=f3a91c07 model=gpt-5 prompt_tokens=18231 cached=16384"),
            ("INFO", "auth", "user 5512 signed in from 192.168.14.77"),
        ]
        * 7
    )
)

MARKDOWN = """## Results

We ran every benchmark **three times** on the same machine and kept the median. See [the method](docs/method.md).

| engine      | messages | tokens before | tokens after | kept  | time    |
|-------------|---------:|--------------:|-------------:|:-----:|--------:|
| truncate    |      412 |       187,204 |       49,880 | 27 %  |  0.2 ms |
| summarise   |      412 |       187,204 |       22,415 | 61 %  |   4.1 s |
| prune       |      412 |       187,204 |       93,602 | 88 %  |  3.7 ms |
| **both**    |      412 |       187,204 |       20,117 | 84 %  |   2.9 s |

1. Pruning alone is cheap and keeps nearly everything that is asked for later.
2. A summary without pruning first costs *twice* as much as one after it.
   - the input is larger
   - and so is the output

> Nothing here says which one is better for you. Measure with your own sessions:

```bash
clew replay session.jsonl --engine both --report report.json
```
"""

README = """# tidewatch

Tells you when the causeway is **safe to cross**. Works offline once the tables are loaded.

## Install

```console
$ pip install tidewatch
$ tidewatch fetch --year 2026 --station "Northern Quay"
```

## Use

- `tidewatch now` prints the next safe window, for example `14:20-18:05`.
- `tidewatch watch --before 30m` rings a bell half an hour before the water comes back.
- Every command takes `--json`; see [the reference](docs/reference.md#output) for the fields.

### Why another one?

The printed tables assume calm weather. With an onshore wind of more than ~25 knots the water arrives up to forty
minutes early, and *nobody* should learn that on the road. So the forecast is part of the answer here:

1. read the table,
2. add the surge for the wind that is forecast,
3. subtract a margin (`margin = 15` in `tidewatch.toml`).

## Licence

MIT. The tide tables belong to the harbour office; please read their [terms](https://example.org/tides/terms).
"""

SAMPLES: dict[str, tuple[str, ...]] = {
    "english": ENGLISH,
    "code": (PYTHON, GO, TYPESCRIPT, SQL),
    "json": (
        json.dumps(_ORDERS),
        json.dumps(_ORDERS, indent=2),
        json.dumps(_SCHEMA),
        json.dumps(_SCHEMA, indent=2),
        json.dumps(_ORDERS, separators=(",", ":")),
    ),
    "chinese": CHINESE,
    "japanese": JAPANESE,
    "korean": KOREAN,
    "russian": RUSSIAN,
    "hex": (HEX, HEX_RUN),
    "base64": (BASE64, BASE64_LINES),
    "log": (LOG,),
    "markdown": (MARKDOWN, README),
}
