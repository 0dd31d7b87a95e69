"""The words in which services refuse: who is meant, what is counted, what is too much. Pure data; judges nothing.

All are looked for in lower case. One word alone decides nothing: `classify` says which of them together mean what. They
are not compiled here, because most processes never hear of a failure; `re` does it at the first look, and remembers.
"""

WINDOW_FINISH = (
    r"(?:model_)?(?:max_)?context_?(?:window|length|limit|size)(?:_?(?:exceeded|reached|overflow|limit))?|model_length"
)
"""Finish reasons that mean the window ended the answer."""

OUTPUT = (
    r"max[_ -]?(completion[_ -]|output[_ -]|new[_ -])tokens?|max_tokens|max(output)?tokens|(output|completion) tokens?"
    r"|maximum tokens (you requested|value)|输出"
)
INPUT = (
    r"\b(inputs?(?! should be)|prompts?|messages?|context|conversation|history)\b|tokens? (in|of) (the |your )?request"
    r"|request(ed)? tokens?|requested \d+\b(?! (output|completion|new))|tokens requested|request length"
    r"|input_tokens|prompt_tokens|输入|上下文|提示|对话|文本|请求内容|入力"
)
CAPACITY = (
    r"context[ _-]?(length|window|size|limit)|(token|length|size|input) limit|limit of"
    r"|max(imum)? (prompt|input|number of)?"
    r" ?tokens?|max(imum)? (context|length|input|prompt)|configured limit|n_ctx|最大长度|长度限制|限制|上限"
)
TOKENS = (
    r"(?<![a-z])tokens?(?![a-z])|\blength\b|\bsize\b|too long|\bwindow\b|n_ctx|\bfit\b|seq_?len|shorten"
    r"|too (large|big)|context (limit|max)|exceed\w* (the |model.? |model's )?context|\d ?[km]\b"
    r"|(input|prompt|context) characters?|长度|超长|过长|太长|窗口|トークン"
)
COUNT = r"(?<![a-z])tokens(?![a-z])|\btoken (count|limit)|sequence length|seq_?len"
"""What is counted is the input even where it is not named: sizes of the answer and rates are judged before."""
EXCESS = (
    r"exceed|too (long|large|big|many (input |prompt )?tokens)|reached (the|its|your) (max|limit|context)"
    r"|over the|beyond|(longer|greater|larger|more|higher|bigger) than|\d\)?\s*>|>=?\s*\d"
    r"|cannot (exceed|be)|must (be <=?|be (less|at most|no more)|have (less|at most|fewer))"
    r"|smaller than|should (be (\[|within|less|at most)|not)"
    r"|(only )?supports? (only )?up to|supports? only"
    r"|reduce (the |your )?(length|size|input|prompt|number)|shorten|shorter|(not|unable to) fit|(does ?n|can).t fit"
    r"|超过|超出|超限|超长|过长|太长|长度不足|超え"
)
OVERFLOW_CODES = (
    r"\b(context_?length_?exceeded\w*|context_window_exceeded\w*|\w*exceed\w*_context\w*|context[ _]?overflow\w*"
    r"|model_max_(prompt|input)_tokens\w*|(prompt|input|context)_?(is_)?too_?(long|large)|input_?tokens?_?exceed\w*"
    r"|tokens?_limit_(exceeded|reached)|max_(prompt|input)_tokens_exceed\w*"
    r"|string_above_context\w*|max_context_length\w*|contextwindowexceeded\w*|context[ _]shift)\b"
)
TOO_LITTLE = r"(greater|longer|more) than 0\b|at least one|minimum|too (short|few)|(must|not be|non-?) ?empty"
"""A limit from below."""
BUDGET = r"budget_tokens|thinking[._ ]budget"
"""A setting of ours that the service refuses, whatever the text compares it with."""
UNKNOWN_SETTING = (
    r"(unsupported|unrecogni[sz]ed|unknown|unexpected) (request )?(argument|param(eter)?)s?\b|unsupported_?param"
    r"|(not|n.t) support (the )?param"
)
"""A setting that is refused by its name, whatever its value."""
OTHER_SIZES = (
    r"(string|array|\b(id|name|key|title|description|metadata( value)?))\b[\"'`: ]*(is )?too (long|large)|_above_max"
    r"|\b(id|name|title|description|metadata( value)?)( length)? exceeds?\b(?![^.;]{0,60}(context|tokens))"
)
"""What is too long is a field."""
MEDIA = r"\b(image|video|audio|pdf|media|attachment|file)s?\b"
RATE = (
    r"rate[ _-]?limit|too[ _]many[ _]requests|per[ -]?(min(ute)?|second|hour|day)\b|\b[tr]p[md]\b|throttl|slow down"
    r"|\bqps\b|速率限制|请求频率|并发|please wait|try again in \d|concurren|resource[ _]?exhausted|retry delay"
)
QUOTA = (
    r"(?<![a-z])quota|billing|insufficient[ _](account )?(funds|balance|credit)|top up|credits?\b|allowance"
    r"|usage[ _]?limit|session limit|spend(ing)?\b|payment|extra usage|(monthly|weekly|daily) (usage |request )?limit"
    r"|\bplan\b|subscription|arrear|(this|per) (month|week|billing)|key limit"
    r"|exhausted your|free tier|budget[_ ](has been |is )?exceed|余额|欠费|充值|额度|配额|使用上限"
)
QUOTA_CODES = frozenset({"1308", "1113", "insufficient_quota", "quota_exceeded", "exceeded_current_quota_error"})
"""1308 and 1113 are Z.ai's numbers for a used-up package and an empty account."""
SOON = (
    r"per[ -]?(min(ute)?|second)\b|perminute|\b[tr]pm\b|\bqps\b"
    r"|(retry|try again) (in|after) (about )?\d+(\.\d+)? ?(ms|s|m\b|sec|min)|\bback[ -]?off\b"
)
"""Budgets that fill again while one waits: of a minute, or with the wait said. Google and Azure call these a quota."""
AUTH = (
    r"unauthori[sz]ed|authenticat|(invalid|incorrect|missing|expired|no|bad) (x-)?api[ _-]?key|invalid_api_key"
    r"|(api[ _-]?key|(access|security|auth|bearer|session)[ _]token|credential)s?\b"
    r"[^.]{0,40}(not valid|invalid|expired|revoked)"
    r"|api_key_invalid|login fail|身份验证|鉴权|permission[ _]?(denied|error)|access denied|\bforbidden\b"
)
POLICY = r"content[_ ]?(filter|policy|management)|moderation|safety|guardrail|high risk|data policy"
BYTES = (
    r"(request|payload|body|entity)( entity)?[ _](is[ _])?too[ _]large|maximum size|\bbytes?\b|\b[km]i?b\b"
    r"|(request|message)[ _]size|body (size|limit)"
)
OVERLOADED = (
    r"overload|temporarily|unavailable(?! in your)|bad gateway|gateway time-?out"
    r"|(at|over|no) capacity|capacity[ _]exceeded|try again later|provider_unavailable"
    r"|service_?busy|engine_busy|system_?resource"
)
BROKEN = (
    r"server[ _]?(error|exception)|internal[ _]?error|unexpected (error|eof)|stream_?error|retry your request"
    r"|returned error"
)
"""What went wrong inside the service. Some say so of each request that they refuse: a status that blames the request
is believed more."""
TRANSPORT = (
    r"network error|connection (error|reset|refused|closed|aborted)|fetch failed|getaddrinfo|socket hang up|timed? ?out"
    r"|\btimeout\b|\bterminated\b|\beconn(reset|refused|aborted)\b|\betimedout\b|\benotfound\b|\bepipe\b"
    r"|websocket closed|(stream|connection) (ended|disconnected|closed|was cut)|before completion"
    r"|premature|network_error|incomplete chunked|peer closed|deadline (has )?(exceeded|expired)"
    r"|name resolution|tls handshake|connection (was )?lost|connection was closed|(unable to|cannot) connect\b"
    r"|unreachable|healthy upstream|upstream connect"
)
BODYLESS = r"(\d{3} )?(status code )?\(?no body\)?"
