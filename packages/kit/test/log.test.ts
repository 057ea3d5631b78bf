import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createLog, silentLog, type LogOptions } from '../src/log.ts'
import { testClock } from '../src/testing/test-clock.ts'

function recorded(options: LogOptions = {}) {
  const lines: string[] = []
  const log = createLog({
    clock: testClock('2026-01-01T00:00:00.000Z'),
    pretty: false,
    sink: (line) => lines.push(line),
    ...options,
  })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> }
}

/** One field as the log writes it. */
function logged(value: unknown): unknown {
  const { log, last } = recorded()
  log.info('Message', { value })
  return last()['value']
}

/** A text as the log writes it. */
function said(text: string): unknown {
  const { log, last } = recorded()
  log.info(text)
  return last()['message']
}

describe('a log line', () => {
  test('is one JSON object with time, level, message and fields', () => {
    const { log, lines } = recorded()
    log.info('Server started', { port: 4280 })
    expect(lines).toEqual([
      '{"time":"2026-01-01T00:00:00.000Z","level":"info","message":"Server started","port":4280}\n',
    ])
  })

  test('has the fields of all parent logs', () => {
    const { log, last } = recorded({ fields: { app: 'strongroom' } })
    log.child({ service: 'sealed' }).child({ requestId: 'r1' }).warn('Message', { n: 1 })
    expect(last()).toMatchObject({
      app: 'strongroom',
      service: 'sealed',
      requestId: 'r1',
      n: 1,
      level: 'warn',
    })
  })

  test('is written if its level is high enough', () => {
    const { log, lines } = recorded({ level: 'warn' })
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines).toHaveLength(2)
    expect(() => silentLog.error('e')).not.toThrow()
  })

  test('cannot have its time, level or message replaced by a field', () => {
    const { log, last } = recorded()
    log.info('True', { message: 'False', level: 'error', time: 'never' })
    expect(last()).toMatchObject({
      message: 'True',
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
    })
  })

  test('is always exactly one line, whatever is in it', () => {
    const { log, lines } = recorded()
    log.info('one\ntwo\u2028three\u0085four\u009B31m', { text: 'a\r\nb' })
    expect(lines.join('').split(/[\n\r\u2028\u2029\u0085]/)).toHaveLength(2)
    expect(lines.join('')).not.toContain('\u009B')
  })
})

describe('a pretty line', () => {
  test('shows the message, the fields and the trace of an error', () => {
    const { log, lines } = recorded({ pretty: true })
    log.error('Cannot start', { port: 80, error: new Error('Port is taken') })
    expect(lines[0]).toContain('Cannot start')
    expect(lines[0]).toContain('port=80')
    expect(lines[0]).toContain('error=Error: Port is taken')
    expect(lines[0]).toContain('log.test.ts')
  })

  test('has no colours if they are turned off', () => {
    const { log, lines } = recorded({ pretty: true, colours: false })
    log.warn('Slow', { ms: 900 })
    expect(lines[0]).toMatch(/^[\d:.]+ warn {2}Slow ms=900\n$/)
  })

  test('cannot move the cursor, change colours or look like another line', () => {
    const { log, lines } = recorded({ pretty: true })
    log.info('a\u001B[2Jb\nc', { name: '\u001B]0;title\u0007' })
    const plain = stripVTControlCharacters(lines[0] ?? '')
    expect(plain).toContain('a\\u001b[2Jb\\u000ac')
    expect(plain).toContain('name=\\u001b]0;title\\u0007')
    expect(plain.split('\n')).toHaveLength(2)
  })
})

describe('secrets in a log line', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'Set-Cookie',
    'token',
    'burnToken',
    'X-Burn-Token',
    'access_token',
    'accesstoken',
    'secret',
    'clientSecret',
    'SMTP_PASSWORD',
    'password',
    'passphrase',
    'key',
    'apiKey',
    'x-api-key',
    'apikey',
    'privateKey',
    'link',
    'managementLink',
    'claim',
    'proof',
    'proofHash',
    'linkHash',
    'credentials',
    'signature',
    'ciphertext',
    'sessionId',
    'secretId',
    'email',
    'clientIp',
  ])('are hidden by the field name "%s", at any depth', (name) => {
    expect(logged({ a: [{ [name]: 'swordfish' }] })).toEqual({ a: [{ [name]: '[redacted]' }] })
    expect(logged({ [name]: { inner: ['swordfish'] } })).toEqual({ [name]: '[redacted]' })
  })

  test('are hidden at the top and in child logs too', () => {
    const { log, lines } = recorded({ fields: { token: 'swordfish' } })
    log.child({ password: 'swordfish' }).info('Message', { secret: 'swordfish' })
    expect(lines.join('')).not.toContain('swordfish')
  })

  test.each([
    'keyId',
    'branchKeyId',
    'tokenCount',
    'triesLeft',
    'keyVersion',
    'secretBytes',
    'keyArn',
    'status',
    'tables',
    'monkey',
  ])('are not assumed behind the field name "%s"', (name) => {
    expect(logged({ [name]: 'visible' })).toEqual({ [name]: 'visible' })
  })

  test('are not assumed in a boolean', () => {
    expect(logged({ passphrase: true, token: null })).toEqual({ passphrase: true, token: null })
  })

  test.each([
    ['Bearer abcdef123456', 'Bearer [redacted]'],
    ['header was "authorization: Basic dXNlcjpwYXNz"', 'header was "authorization: [redacted]'],
    ['https://user:hunter22@example.com/x', 'https://[redacted]@example.com/x'],
    ['https://example.com/s#V1StGXR8:abc', 'https://example.com/s#[redacted]'],
    ['GET https://example.com/cb?code=Zx81kkQmWn40aLp92bVd&page=2', 'page=2'],
    [
      'GET https://example.com/cb?token=abc&page=2',
      'https://example.com/cb?token=[redacted]&page=2',
    ],
    [
      'GET /sealed/v1/secrets/Zx81kkQmWn40aLp92bVd/reveal failed',
      '/sealed/v1/secrets/[redacted]/reveal',
    ],
    ['/sealed/#Zx81:kkQm', '/sealed/#[redacted]'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJqdGkiOiJhIn0.c2lnbmF0dXJl', 'jwt [redacted]'],
    ['uses fh_live_a1b2c3d4e5f6 now', 'uses [redacted] now'],
    ['signed by whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '[redacted]'],
    ['from sro_admin.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ', '[redacted]'],
    ['password=hunter22 given', 'password=[redacted] given'],
    ['{"api_key":"hunter22"}', '{"api_key":"[redacted]"}'],
    ['-----BEGIN EC PRIVATE KEY-----\nhunter22\n-----END EC PRIVATE KEY-----', '[redacted]'],
    ['value Zx81kkQmWn40aLp92bVdZx81kkQmWn40aLp92bVd seen', 'value [redacted] seen'],
  ])('are hidden in text: %s', (text, expected) => {
    const clean = String(said(text))
    expect(clean).toContain(expected)
    for (const secret of [
      'hunter22',
      'abcdef123456',
      'Zx81',
      'a1b2c3d4',
      'MfKQ',
      'c2lnbmF0dXJl',
      'V1StGXR8',
      'dXNlcjpwYXNz',
    ]) {
      expect(clean).not.toContain(secret)
    }
  })

  test.each([
    'Server listens on http://127.0.0.1:4280',
    'Table ferryhook-events is ready',
    'Request 6f1c1f8e-7f1b-4b8e-9d4e-0a1b2c3d4e5f failed',
    'Cannot read /var/lib/strongroom/keys/master.key',
    'arn:aws:kms:eu-central-1:111122223333:key/6f1c1f8e-7f1b-4b8e-9d4e-0a1b2c3d4e5f',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ])('are not assumed in ordinary text: %s', (text) => {
    expect(said(text)).toBe(text)
  })

  test('are hidden in the messages, traces and causes of errors, whose other fields are left out', () => {
    const cause = Object.assign(new Error('Bearer abcdef123456 refused'), {
      config: { headers: 'swordfish' },
    })
    const error = Object.assign(new TypeError('Failed for password=swordfish', { cause }), {
      code: 'ECONNREFUSED',
      request: { auth: 'swordfish' },
    })
    const copy = logged(error) as Record<string, unknown>
    expect(Object.keys(copy).toSorted()).toEqual(['cause', 'code', 'message', 'name', 'stack'])
    expect(copy).toMatchObject({
      name: 'TypeError',
      code: 'ECONNREFUSED',
      cause: { message: 'Bearer [redacted] refused' },
    })
    expect(JSON.stringify(copy)).not.toMatch(/swordfish|abcdef123456/)
  })

  test('are hidden in headers, maps, addresses and bytes', () => {
    const copy = logged({
      headers: new Headers({ authorization: 'swordfish', accept: 'text/html' }),
      map: new Map([['token', 'swordfish']]),
      address: new URL('https://example.com/?password=swordfish'),
      query: new URLSearchParams({ passphrase: 'swordfish' }),
      bytes: Buffer.from('swordfish'),
    })
    expect(JSON.stringify(copy)).not.toContain('swordfish')
    expect(copy).toMatchObject({ headers: { accept: 'text/html' }, bytes: '[9 bytes]' })
  })
})

function angry(): never {
  throw new Error('no')
}

describe('a log call never throws', () => {
  test('on a cycle, a deep value or a huge one', () => {
    const cycle: Record<string, unknown> = { name: 'a' }
    cycle['self'] = cycle
    expect(logged(cycle)).toEqual({ name: 'a', self: '[circular]' })
    let deep: unknown = 'end'
    for (let level = 0; level < 10_000; level++) deep = { deep }
    expect(JSON.stringify(logged(deep))).toContain('[too deep]')
    expect(logged(Array.from({ length: 1_000_000 }, () => 1))).toHaveLength(101)
    expect(String(logged('x y '.repeat(1_000_000))).length).toBeLessThan(9_000)
    expect(
      Object.keys(
        logged(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`n${n}`, n]))) as object,
      ),
    ).toHaveLength(101)
  })

  test('shows the same object twice when it is not a cycle', () => {
    const shared = { n: 1 }
    expect(logged([shared, shared])).toEqual([{ n: 1 }, { n: 1 }])
  })

  test('on values that JSON does not know', () => {
    expect(
      logged({
        big: 10n,
        nan: Number.NaN,
        fn: () => 1,
        symbol: Symbol('s'),
        set: new Set([1]),
        bad: new Date(Number.NaN),
      }),
    ).toEqual({
      big: '10',
      nan: 'NaN',
      fn: '[function]',
      symbol: 'Symbol(s)',
      set: [1],
      bad: 'Invalid Date',
    })
  })

  test('on a getter, a proxy, an error or a sink that throws', () => {
    expect(
      logged(Object.defineProperty({ fine: 1 }, 'angry', { get: angry, enumerable: true })),
    ).toEqual({
      fine: 1,
      angry: '[unreadable]',
    })
    expect(logged(new Proxy({}, { ownKeys: angry, getPrototypeOf: angry }))).toBe('[unreadable]')
    expect(logged(Object.defineProperty(new Error('x'), 'message', { get: angry }))).toBe(
      '[unreadable]',
    )
    expect(() => createLog({ sink: angry }).info('Message')).not.toThrow()
  })

  test('and never calls toJSON, which may reveal hidden fields', () => {
    expect(logged({ toJSON: () => 'swordfish', n: 1 })).toEqual({ toJSON: '[function]', n: 1 })
  })

  test('and keeps a field named __proto__ a field', () => {
    const value: unknown = JSON.parse('{"__proto__":{"admin":true}}')
    expect(JSON.stringify(logged(value))).toBe('{"__proto__":{"admin":true}}')
  })
})

test.each([
  ['texts and numbers', { requestId: 'r1', durationMs: 1.5, n: -0, big: 1e21 }],
  ['a name that is hidden', { n: 1, token: 'abc' }],
  ['a name of the line itself', { level: 'none', n: 1 }],
  ['a name that the log has', { service: 'other', n: 1 }],
  ['a name that has to be written otherwise', { 'a"b': 1, ä: 2 }],
  ['a credential', { text: 'Bearer abcdefghijklmnop' }],
  ['what is neither text nor number', { a: true, b: undefined, c: null, d: [1], e: Number.NaN }],
])('a line has the same fields whether they come from the call or the log: %s', (_, fields) => {
  const { log, last } = recorded({ fields: { service: 'sealed' } })
  log.info('Message', fields)
  const own = last()
  log.child(fields).info('Message')
  expect(own).toEqual(last())
})
