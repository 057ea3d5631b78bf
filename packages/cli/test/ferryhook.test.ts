/** Ferryhook by commands: sources, connections, events and replays, on a server that runs. */
import { closeSync, openSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asGitHubSigns, type FerryhookServer, ferryhookServer, send } from './ferryhook-server.ts'
import { refusals } from './ferryhook-refusals.ts'
import { inProcess } from './in-process.ts'
import { localProgram } from './listen-server.ts'
import { start } from './strongroom.ts'

let server: FerryhookServer
beforeAll(async () => {
  server = await ferryhookServer()
})
afterAll(() => server.close())

describe('strongroom sources', () => {
  test('adds a source and prints the URL to send to, then lists, shows, pauses and removes it', async () => {
    const { does, json } = await server.account()
    expect(await does('sources', 'list')).toContain('There are no sources: add one')
    const url = (await does('sources', 'add', 'Shop')).trim()
    expect(url).toMatch(/\/in\/src_[\w-]{16}$/)
    const id = url.slice(-20)
    expect(await does('sources', 'list')).toBe(
      `ID                    NAME  PROVIDER  STATUS  VERIFIES  LAST EVENT  EVENTS\n${id}  Shop  custom    active  no        none        0\n`,
    )
    expect(await json('sources', 'list')).toEqual([await json('sources', 'show', id)])
    expect(await json('sources', 'show', 'Shop')).toMatchObject({ id, url, provider: 'custom' })
    expect(await does('sources', 'show', 'Shop')).toMatch(
      new RegExp(
        `^source        ${id}\nname          Shop\n[^]*verification  none: accepts all requests\nmethods       POST, PUT\nevent id      standard of the provider\nevent type    standard of the provider\ncredentials   standard\nevents        0\ncreated `,
      ),
    )
    expect(await does('sources', 'pause', 'Shop')).toBe('Shop is paused\n')
    expect((await send(url, '{}')).status).toBe(404)
    expect(await does('sources', 'resume', id)).toBe('Shop is active\n')
    expect((await send(url, '{}')).status).toBe(200)
    expect(await does('sources', 'remove', 'Shop')).toBe('Shop was removed\n')
    expect(await json('sources', 'list')).toEqual([])
  })

  test('calls the server in STRONGROOM_SERVER', async () => {
    const { key, does } = await server.account()
    await does('sources', 'add', 'Shop')
    const env = { FERRYHOOK_API_KEY: key, STRONGROOM_SERVER: server.url }
    expect((await inProcess(['sources', 'list'], { env })).stdout).toContain('  Shop  ')
  })

  test('reads the signing secret from a file or the environment and never prints it', async () => {
    const { does, tries } = await server.account()
    const path = await server.file('secret', 'from-a-file\n')
    const add = ['sources', 'add', 'Repository', '--provider', 'github']
    const added = await tries([...add, '--secret-file', path])
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const url = added.stdout.trim()
    const isTaken = async (secret: string) =>
      (await send(url, secret, asGitHubSigns(secret, secret))).status === 200
    expect(await isTaken('from-a-file')).toBe(true)
    expect(await does('sources', 'show', 'Repository')).toMatch(/verification +github\n/)

    const rotate = ['sources', 'rotate', 'Repository', '--overlap', '0s']
    const rotated = await tries(rotate, { FERRYHOOK_SIGNING_SECRET: 'from-the-environment' })
    expect(rotated).toEqual({
      code: 0,
      stdout: 'Repository has a new signing secret\n',
      stderr: '',
    })
    expect(await isTaken('from-the-environment')).toBe(true)
    expect(await isTaken('from-a-file')).toBe(false)
    for (const args of [['list'], ['show', 'Repository']]) {
      expect(await does('sources', ...args, '--json')).not.toMatch(/from-(?:a-file|the-env)/)
    }
  })

  test('reads the signing secret from a file descriptor', async () => {
    const { does } = await server.account()
    const opened = openSync(await server.file('descriptor', 'from-a-descriptor\n'), 'r')
    const add = ['sources', 'add', 'Repository', '--provider', 'github']
    const url = (await does(...add, '--secret-fd', String(opened))).trim()
    closeSync(opened)
    const signed = asGitHubSigns('from-a-descriptor', '{}')
    expect((await send(url, '{}', signed)).status).toBe(200)
  })

  test('warns about a source without verification and accepts signing options', async () => {
    const { tries, does, json } = await server.account()
    const bare = await tries(['sources', 'add', 'Bare', '--provider', 'github', '--unsigned'])
    expect(bare.stderr).toBe('The source does not verify: it accepts all requests\n')
    expect(await does('sources', 'show', 'Bare')).toMatch(
      /verification +none: accepts all requests\n/,
    )
    expect(await does('sources', 'list')).toMatch(/VERIFIES.*\n.* Bare +github +active +no /)
    const options = await server.file(
      'signing.json',
      '{"header":"x-shop-signature","encoding":"base64"}',
    )
    const secret = await server.file('hmac-secret', 'hush')
    const how = ['--algorithm', 'hmac-sha256', '--signing-options', options]
    const made = await tries(['sources', 'add', 'Shop', ...how, '--secret-file', secret])
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(await json('sources', 'show', 'Shop')).toMatchObject({
      signingAlgorithm: 'hmac-sha256',
      signingOptions: { header: 'x-shop-signature', encoding: 'base64' },
    })
  })
})

describe('strongroom connections', () => {
  test('adds a connection with a filter, a script and headers, and shows its secret once', async () => {
    const { does, json, untilStatus } = await server.account()
    const program = await localProgram()
    const url = (await does('sources', 'add', 'Shop')).trim()
    const add = ['connections', 'add', 'Shop', `${program.url}/hook`, '--name', 'To the books']
    const filter = await server.file('f.json', '[{"path":"$.n","operator":"gt","value":1}]')
    const script = await server.file('t.js', 'function transform(e) { return { m: e.body.n } }')
    const headers = await server.file('h.json', '{"x-credential":"open-sesame"}')
    add.push('--filter', filter, '--transform', script, '--headers', headers)
    const made = await does(...add)
    const [, id = '', secret = ''] =
      /^connection {3}(conn_\S+)\n[^]*\nsecret {7}(whsec_\S+)\n$/.exec(made) ?? []
    expect([id, secret]).not.toContain('')
    await send(url, '{"n":1}')
    const { id: eventId } = await send(url, '{"n":2}')
    await untilStatus(eventId, 'delivered')
    expect(program.got.map(({ body }) => body.toString())).toEqual(['{"m":2}'])
    expect(program.got[0]?.request.headers['x-credential']).toBe('open-sesame')

    const line = new RegExp(`\n${id}  To the books  Shop    ${program.url}/hook  active  `)
    expect(await does('connections', 'list')).toMatch(line)
    expect(await does('connections', 'list', 'Shop')).toMatch(line)
    const shown = await does('connections', 'show', 'To the books')
    expect(shown).toMatch(
      /filter {7}1 condition\ntransform {4}javascript\nheaders {6}x-credential\n/,
    )
    const document = await json('connections', 'show', id)
    expect(await json('connections', 'list')).toEqual([document])
    for (const text of [shown, JSON.stringify(document)]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain('open-sesame')
    }
    const rotated = (await does('connections', 'rotate', id)).trim()
    expect(rotated).toMatch(/^whsec_/)
    expect(rotated).not.toBe(secret)
  })

  test('delivers to the test destination and shows the requests as delivered', async () => {
    const { does, json, tries, untilStatus } = await server.account()
    const url = (await does('sources', 'add', 'Shop')).trim()
    expect(await json('connections', 'add', 'Shop', 'test:200')).toMatchObject({ name: 'test:200' })
    const list = () => does('connections', 'requests', 'test:200')
    expect(await list()).toBe(
      'The test destination has received nothing from this connection in 24 hours\n',
    )
    const { id } = await send(url, '{"n":1}', { 'x-shop': 'Berlin' })
    await untilStatus(id, 'delivered')
    // It responds without headers, so no heading stands alone.
    expect(await does('events', 'show', id)).not.toContain('RESPONSE HEADERS')
    expect(await list()).toMatch(
      new RegExp(
        `^NUMBER +WHEN +EVENT +ATTEMPT +METHOD +BODY +RESPONSE\n1 .* ${id}  1        POST    7 bytes  200\n$`,
      ),
    )
    const shown = await does('connections', 'requests', 'test:200', '1')
    expect(shown).toMatch(/^request   1\nevent     evt_/)
    expect(shown).toMatch(/\n\nPOST\n(?:[^\n]+: [^\n]+\n)+\n\{"n":1\}\n$/)
    expect(shown).toContain('\nx-shop: Berlin\n')
    expect(shown).toMatch(/\nwebhook-signature: v1,\S+\n/)
    const document = await json('connections', 'requests', 'test:200', '1')
    expect(document).toMatchObject({ number: 1, body: '{"n":1}', encoding: 'utf-8' })
    expect(await tries(['connections', 'requests', 'test:200', '2'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Test request not found'),
    })
    expect(await tries(['connections', 'requests', 'test:200', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('NUMBER must be the number of a request in the list'),
    })
  })

  test('pauses a connection, which holds its events; its default name is the host', async () => {
    const { does, json, untilStatus } = await server.account()
    const program = await localProgram()
    const url = (await does('sources', 'add', 'Shop')).trim()
    const { name } = await json<{ name: string }>('connections', 'add', 'Shop', program.url)
    expect(name).toBe(new URL(program.url).host)
    expect(await does('connections', 'pause', name)).toBe(`${name} is paused\n`)
    const { id } = await send(url, '{}')
    await untilStatus(id, 'held')
    expect(await does('connections', 'resume', name)).toBe(`${name} is active\n`)
    expect(await does('connections', 'remove', name)).toBe(`${name} was removed\n`)
    expect(await does('connections', 'list')).toContain('There are no connections: add one')
  })
})

describe('strongroom events', () => {
  test('shows the attempts of an event, retries it now and replays it', async () => {
    const { does, json, untilStatus } = await server.account()
    const answers = [500]
    const program = await localProgram((response) => response.writeHead(answers.pop() ?? 200).end())
    const url = (await does('sources', 'add', 'Shop')).trim()
    await does('connections', 'add', 'Shop', program.url)
    const { id } = await send(url, '{"tab":"\u001B"}', {
      'content-type': 'application/json',
      'ce-type': 'sale',
    })
    await untilStatus(id, 'retrying')
    const shown = await does('events', 'show', id)
    expect(shown).toMatch(
      /^event {5}evt_\S+\nsource {4}Shop \(src_\S+\)\ntype {6}sale\nstatus {4}retrying\nreceived /,
    )
    expect(shown).toMatch(
      /\nCONNECTION +STATE +RUN +ATTEMPTS +NEXT ATTEMPT\n\S+ \(conn_\S+\) +retrying \(http_500\) +1 +1 +in \d+ seconds\n/,
    )
    expect(shown).toMatch(
      /\nCONNECTION [^\n]+\n127\.0\.0\.1:\d+ +1 +1 +(?:now|\d+ seconds? ago) +500 +\d+ ms[^\n]*\n\nRESPONSE HEADERS of 127\.0\.0\.1:\d+, run 1, attempt 1\n[^]*connection +keep-alive\n/,
    )
    expect(shown).not.toContain('tab')
    expect(await does('events', 'show', id, '--body')).toBe('{"tab":"\u001B"}')

    expect(await does('events', 'retry', id)).toBe('1 delivery is attempted now\n')
    await untilStatus(id, 'delivered')
    expect(await does('events', 'retry', id)).toContain('The event has no pending deliveries')
    expect(await does('events', 'replay', id)).toBe(`Replaying ${id} to 1 connection\n`)
    await program.until(3)
    const event = await untilStatus(id, 'delivered')
    expect(event['attempts']).toHaveLength(3)
    expect(await json('events', 'replay', id, '--to', new URL(program.url).host)).toMatchObject({
      replayId: expect.stringMatching(/^rpl_/),
      deliveries: [{ eventId: id, run: 3 }],
    })
  })

  test('replays an unverified event only with --accept-unverified', async () => {
    const { does, json, tries } = await server.account()
    const program = await localProgram()
    const secret = await server.file('vouched', 'hush')
    const add = ['sources', 'add', 'Repository', '--provider', 'github', '--secret-file', secret]
    const url = (await does(...add)).trim()
    await does('connections', 'add', 'Repository', program.url)
    expect((await send(url, '{}')).status).toBe(401)
    const [event] = await json<{ id: string }[]>('events', 'list', '--status', 'signature_failed')
    const replay = ['events', 'replay', event?.id ?? '']
    expect(await tries(replay)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Verification of the event failed: an admin key can replay it with --accept-unverified\n',
    })
    await does(...replay, '--accept-unverified')
    await program.until(1)
  })

  test('lists the newest events of all sources by status, time and text', async () => {
    const { does, json, tries } = await server.account()
    const shop = (await does('sources', 'add', 'Shop')).trim()
    const other = (await does('sources', 'add', 'Other')).trim()
    expect(await does('events', 'list')).toBe('No matching events\n')
    const sent: string[] = []
    for (const [to, body] of [
      [shop, '"a red one"'],
      [other, '"b"'],
      [shop, '"c"'],
    ] as const) {
      sent.unshift((await send(to, body, { 'x-kind': `kind-${sent.length}` })).id)
    }
    const listed = async (...args: string[]) =>
      (await json<{ id: string }[]>('events', 'list', ...args)).map(({ id }) => id)
    expect(await listed()).toEqual(sent)
    expect(await listed('Shop')).toEqual([sent[0], sent[2]])
    expect(await listed('--limit', '2')).toEqual(sent.slice(0, 2))
    expect(await listed('--since', '1h', '--search', 'red')).toEqual([sent[2]])
    expect(await listed('--since', '1h', '--header', 'x-kind: kind-1')).toEqual([sent[1]])
    expect(await listed('--type', 'kind.*')).toEqual([])
    expect(await listed('--until', '2026-01-31T12:00:00Z')).toEqual([])
    expect(await listed('--status', 'failed')).toEqual([])
    const { stdout, stderr } = await tries(['events', 'list', '--limit', '1'])
    expect(stdout).toMatch(
      /^ID +RECEIVED +STATUS +SOURCE +TYPE +DELIVERIES +BODY +CONTENT\nevt_\S+ +(?:now|\d+ seconds? ago) +\S.* +Shop +none +3 bytes/,
    )
    expect(stderr).toBe('There are more: --limit shows them\n')
  })

  test('replays all failed events and shows the progress', async () => {
    const { does, json, tries, untilStatus } = await server.account()
    const answers = [500, 500]
    const program = await localProgram((response) => response.writeHead(answers.pop() ?? 200).end())
    const url = (await does('sources', 'add', 'Shop')).trim()
    await does('connections', 'add', 'Shop', program.url)
    const failed: string[] = []
    for (const body of ['1', '2']) {
      const { id } = await send(url, body)
      await untilStatus(id, 'retrying')
      expect(await does('events', 'cancel', id)).toBe('1 delivery is cancelled\n')
      failed.push(id)
    }
    const fine = await send(url, '3')
    await untilStatus(fine.id, 'delivered')
    const chosen = ['--source', 'Shop', '--status', 'failed', '--since', '2h']
    const done = await tries(['events', 'replay', ...chosen])
    expect(done).toMatchObject({ code: 0, stdout: '2 events found, 2 deliveries replayed\n' })
    expect(done.stderr).toMatch(/^Running rpl_\S+: Ctrl\+C cancels it\n/)
    await program.until(5)
    for (const id of failed) await untilStatus(id, 'delivered')
    const again = await json('events', 'replay', ...chosen)
    expect(again).toMatchObject({ state: 'done', events: { matched: 0 } })
    expect(await json('replays', 'list')).toHaveLength(2)
    expect(await does('replays', 'list')).toMatch(/\nrpl_\S+ +.+ Shop +failed +any +done +2 +2\n$/)
  })

  test('replays failures to the failed connection only, unless --all-connections is given', async () => {
    const { does, json, untilStatus } = await server.account()
    const answers = [500]
    const broken = await localProgram((response) => response.writeHead(answers.pop() ?? 200).end())
    const healthy = await localProgram()
    const url = (await does('sources', 'add', 'Shop')).trim()
    await does('connections', 'add', 'Shop', broken.url, '--name', 'Broken')
    await does('connections', 'add', 'Shop', healthy.url, '--name', 'Healthy')
    const { id } = await send(url, '1')
    await healthy.until(1)
    await untilStatus(id, 'retrying')
    expect(await json('events', 'list', '--connection', 'Healthy')).toMatchObject([{ id }])
    await does('events', 'cancel', id)
    const all = ['events', 'replay', '--source', 'Shop', '--since', '2h']
    expect(await does(...all, '--status', 'failed')).toBe('1 event found, 1 delivery replayed\n')
    await untilStatus(id, 'delivered')
    expect(await json('events', 'show', id)).toMatchObject({
      attempts: [{ run: 1 }, { run: 1 }, { run: 2 }],
    })
    answers.push(500)
    await does('events', 'replay', id, '--to', 'Broken')
    await untilStatus(id, 'retrying')
    await does('events', 'cancel', id)
    const everywhere = await does(...all, '--status', 'failed', '--all-connections')
    expect(everywhere).toBe('1 event found, 2 deliveries replayed\n')
    await healthy.until(2)
  })

  test('cancels a replay on Ctrl+C, and by its id', async () => {
    const { key, does, json } = await server.account()
    const program = await localProgram()
    const url = (await does('sources', 'add', 'Shop')).trim()
    await does('connections', 'add', 'Shop', program.url)
    for (let number = 1; number <= 12; number++) await send(url, String(number))
    await program.until(12)
    const slowly = ['--source', 'Shop', '--since', '1h', '--per-second', '1']
    const replay = start(['events', 'replay', ...slowly, '--server', server.url], {
      cwd: server.cwd,
      env: { FERRYHOOK_API_KEY: key },
    })
    await program.until(13)
    replay.process.kill('SIGINT')
    const { code, stdout } = await replay.finished
    expect([code, stdout]).toEqual([130, expect.stringMatching(/^Cancelled: /)])

    const id = (await does('events', 'replay', ...slowly, '--no-wait')).trim()
    expect(await does('replays', 'cancel', id)).toMatch(/^Cancelled: /)
    const states = await json<{ state: string }[]>('replays', 'list')
    expect(states.map(({ state }) => state)).toEqual(['cancelled', 'cancelled'])
  })
})

refusals(() => server)
