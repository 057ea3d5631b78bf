/** A server, a fake Slack and an app, as a person sets them up: the events of real people arrive. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { type FakeSlackServer, serveFakeSlack } from '@strongroom/two-key/fake-slack/server'
import { sampleClient, sampleSecret, sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { claimFirstAdmin } from './first-admin.ts'
import { emptyDirectory, type Running, start, strongroom } from './strongroom.ts'

describe('strongroom slack', () => {
  let server: Running
  let slack: FakeSlackServer
  let url: string
  let token: string
  let cwd: string
  const received: string[] = []
  const upstream = createServer((req, res) => {
    void buffer(req).then((body) => {
      received.push(body.toString())
      return res.end()
    })
  })

  beforeAll(async () => {
    cwd = await emptyDirectory()
    slack = await serveFakeSlack(createFakeSlack(), 0)
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve))
    server = start(['serve', '--json'], {
      cwd,
      env: {
        PORT: '0',
        TWO_KEY_SLACK_API_URL: slack.url,
        TWO_KEY_ALLOWED_NETWORKS: '127.0.0.0/8',
        TWO_KEY_ALLOW_HTTP: 'true',
      },
    })
    const printed = await server.until('\n}\n')
    ;({ url } = JSON.parse(printed) as { url: string })
    token = await claimFirstAdmin(printed)
  })
  afterAll(async () => {
    server.process.kill('SIGKILL')
    upstream.close()
    await slack.close()
  })

  const slackCommand = async (args: string[], env: Record<string, string> = {}) =>
    inProcess(['slack', ...args, '--server', url], {
      cwd,
      env: { STRONGROOM_TOKEN: token, ...env },
    })
  const withSecret = async (args: string[], stdin: string) =>
    strongroom(['slack', ...args, '--server', url], {
      cwd,
      stdin,
      env: { STRONGROOM_TOKEN: token },
    })

  test('sets up an app that receives verified events and no events of unknown users', async () => {
    const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`
    const add = ['app', 'add', 'demo', '--upstream', address]
    const added = await withSecret(add, `${sampleSecret}\n`)
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const events = added.stdout.trim()
    expect(events).toBe(`${url}/two-key/slack/demo/events`)
    const set = await withSecret(['token', 'set', 'demo', sampleTeam.id], sampleTeam.token)
    expect(set).toEqual({
      code: 0,
      stdout: `The token of ${sampleTeam.id} was stored\n`,
      stderr: '',
    })

    const send = async (...args: string[]) =>
      inProcess(['fake-slack', 'send', 'message', events, ...args], { cwd })
    expect((await send('--text', 'It works')).code).toBe(0)
    expect(received).toHaveLength(1)
    expect(received[0]).toContain('It works')
    expect((await send('--user', 'U0INVENTED')).stdout).toContain('403')
    expect(received).toHaveLength(1)

    expect((await slackCommand(['apps'])).stdout).toBe(`demo  ${events} → ${address}\n`)
    expect((await slackCommand(['tokens', 'demo'])).stdout).toMatch(
      new RegExp(`^${sampleTeam.id}  since \\d{4}-`),
    )
    const decisions = (await slackCommand(['decisions', 'demo'])).stdout.split('\n')
    expect(decisions[0]).toContain('refused (user_not_found)  message  ')
    expect(decisions[0]).toContain('user U0INVENTED')
    expect(decisions[1]).toContain('accepted (slack)  message  ')
    await inProcess(['fake-slack', 'send', 'command', events, '--channel', 'G0000HIDE'], { cwd })
    expect((await slackCommand(['decisions', 'demo', '--limit', '1'])).stdout).toMatch(
      /accepted \(cache\) {2}slash_command {2}.*channel G0000HIDE, channel: unseen\n$/,
    )

    const kept = ['secret', 'rotate', 'demo', '--overlap', '24h']
    const rotated = await withSecret(kept, 'another-signing-secret')
    expect(rotated.stdout).toMatch(
      /^Signing secrets of demo:\n {2}new secret: valid until it is rotated\n {2}secret of \S+Z: valid until \S+Z\n$/,
    )
    const last = await withSecret(['secret', 'rotate', 'demo'], 'a-third-secret')
    expect(last.stdout).toBe(
      'Signing secrets of demo:\n  new secret: valid until it is rotated\n  every older secret: no longer valid\n',
    )
    expect((await send('--text', 'Signed with the leaked secret')).stdout).toContain('401')

    const other = `${address}other`
    const changed = await slackCommand([
      'app',
      'change',
      'demo',
      '--upstream',
      other,
      '--channels',
      'event=if-visible,view=skip',
    ])
    expect(changed.stdout).toBe(`demo was changed: ${events} → ${other}\n`)
    const client = ['app', 'change', 'demo', '--client-id', sampleClient.id, '--scopes', 'commands']
    const installable = await withSecret([...client, '--json'], sampleClient.secret)
    expect(JSON.parse(installable.stdout)).toMatchObject({
      upstream: { url: other, kind: 'app' },
      policy: { channels: { event: 'if-visible', view: 'skip' } },
      installation: {
        scopes: expect.arrayContaining(['users:read', 'commands']),
        installUrl: `${url}/two-key/slack/demo/install`,
      },
    })
    expect(installable.stdout).not.toContain(sampleClient.secret)
    const removed = await slackCommand(['token', 'remove', 'demo', sampleTeam.id])
    expect(removed.stdout).toBe(`The token of ${sampleTeam.id} was removed\n`)
    expect((await slackCommand(['app', 'remove', 'demo'])).stdout).toBe('demo was removed\n')
    expect((await slackCommand(['apps'])).stdout).toBe(
      'There are no apps: add one with "strongroom slack app add"\n',
    )
  })

  test('reports an invalid command line in one line', async () => {
    const wrong: [string[], string, Record<string, string>?][] = [
      [['apps'], "operator's token", { STRONGROOM_TOKEN: '' }],
      [
        ['apps'],
        'The server rejects this token: set STRONGROOM_TOKEN',
        { STRONGROOM_TOKEN: 'sro_admin.wrong' },
      ],
      [['app', 'add', 'x'], '--upstream https://'],
      [['tokens', 'nobody'], 'Slack app not found'],
      [['token', 'remove', 'nobody'], 'pass APP and TEAM'],
      [['decisions', 'nobody', '--limit', 'all'], '--limit must be a number'],
      [['app', 'remove', 'Not-A-Name'], 'lower-case letters'],
      [['app', 'change', 'nobody'], 'Nothing to change'],
      [['app', 'change', 'nobody', '--channels', 'events=strict'], 'event=if-visible'],
      [['app', 'change', 'nobody', '--scopes', 'commands'], 'Slack app not found'],
    ]
    for (const [args, message, env] of wrong) {
      const { code, stdout, stderr } = await slackCommand(args, env)
      expect([code === 0, stdout]).toEqual([false, ''])
      expect(stderr).toContain(message)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
    const empty = await withSecret(['token', 'set', 'demo', 'T1'], '')
    expect(empty.stderr).toContain('No secret given')
    const long = await withSecret(['token', 'set', 'demo', 'T1'], 'x'.repeat(1025))
    expect(long.stderr).toBe('A secret has at most 1024 bytes\n')
    const unreachable = await inProcess(['slack', 'apps', '--server', 'http://127.0.0.1:9'], {
      cwd,
      env: { STRONGROOM_TOKEN: token },
    })
    expect(unreachable.stderr).toContain('Cannot reach the server')
  })
})
