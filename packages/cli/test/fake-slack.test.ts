import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start } from './strongroom.ts'

describe('strongroom fake-slack', () => {
  test('answers like Slack, fails on demand and stops cleanly', async () => {
    const server = start(['fake-slack', '--port', '0'], { cwd: await emptyDirectory() })
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const printed = await server.until('Press Ctrl+C to stop')
    const [url = ''] = /http:\/\/\S+/.exec(printed) ?? []
    const [token = ''] = /xoxb-\S+/.exec(printed) ?? []
    const ask = async () => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${url}users.info?user=U00000001`, { headers })).json()
    }
    expect(await ask()).toMatchObject({ ok: true, user: { id: 'U00000001' } })
    const fault = '{"kind":"error","error":"token_revoked"}'
    await fetch(new URL('/fake/faults', url), { method: 'POST', body: fault })
    expect(await ask()).toEqual({ ok: false, error: 'token_revoked' })
    server.process.kill('SIGTERM')
    expect((await server.finished).code).toBe(0)
  })

  test('sends an app signed requests as Slack does', async () => {
    const cwd = await emptyDirectory()
    const got: { headers: IncomingHttpHeaders; body: string }[] = []
    const app = createServer((req, res) => {
      void text(req).then((body) => {
        got.push({ headers: req.headers, body })
        res.writeHead(body.includes('U0INVENTED') ? 403 : 200).end('seen')
        return undefined
      })
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void app.close())
    await once(app, 'listening')
    const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/`
    const send = async (...args: string[]) =>
      inProcess(['fake-slack', 'send', ...args], { cwd, env: { SLACK_SIGNING_SECRET: 'mine' } })

    for (const kind of ['message', 'mention', 'command', 'action', 'shortcut', 'view']) {
      expect(await send(kind, url)).toEqual({ code: 0, stdout: '200 seen\n', stderr: '' })
      const { headers, body } = got.at(-1)!
      const base = `v0:${String(headers['x-slack-request-timestamp'])}:${body}`
      const signature = createHmac('sha256', 'mine').update(base).digest('hex')
      expect(headers['x-slack-signature']).toBe(`v0=${signature}`)
    }
    await send('command', url, '--name', 'deploy', '--text', 'now')
    expect(got.at(-1)?.body).toContain('command=%2Fdeploy&text=now')
    expect(await send('command', url, '--user', 'U0INVENTED')).toMatchObject({
      code: 1,
      stdout: '403 seen\n',
    })
  })

  test('reports that the app does not respond', async () => {
    expect(await inProcess(['fake-slack', 'send', 'command', 'http://127.0.0.1:9/'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Cannot reach http:[^\n]+: start the app, or [^\n]+\n$/),
    })
  })

  test('reports an invalid command line', async () => {
    const cwd = await emptyDirectory()
    const said = async (...args: string[]) => {
      const { code, stderr } = await inProcess(['fake-slack', ...args], { cwd })
      return [code, stderr]
    }
    expect(await said('send', 'odd', 'http://127.0.0.1/')).toEqual([
      2,
      expect.stringContaining('one of message'),
    ])
    expect(await said('send', 'view', 'ftp://x/')).toEqual([
      2,
      expect.stringContaining('URL must be an http or https URL'),
    ])
    expect(await said('--port', 'x')).toEqual([2, expect.stringContaining('--port must be')])
  })
})
