import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@strongroom/kit/http/node'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDb, startApp } from '../support/sealed-app.ts'
import { newCiphertext, newKeys, newSecretBody } from '../support/sealed-client.ts'

const OF_THE_CONNECTION = ['date', 'content-length', 'connection', 'keep-alive']

type Face = 'Node' | 'the app'

describe.each(serviceStores())('Sealed on a Node server', (store) => {
  const opened = openDb(store)

  /** Sends the request over a socket, to Node, or to the app. */
  async function serving(face: Face) {
    const env = { SEALED_BURN_LIMIT: '1' }
    const running = await startApp(opened.db, { env, peerAddress: () => '127.0.0.1' })
    const { app, findHotRoute, lines } = running
    const taken: boolean[] = []
    const listener = nodeListener(app, (method, target) => {
      const route = findHotRoute(method, target)
      taken.push(route !== undefined)
      return route
    })
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sealed/v1`
    const send =
      face === 'Node' ? fetch : async (to: string, init: RequestInit) => app.request(to, init)
    return { send, url, taken, lines }
  }

  async function everyAnswer(face: Face) {
    const { send, url, taken, lines } = await serving(face)
    const seen: unknown[] = []
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await send(`${url}${path}`, { method: 'POST', ...init })
      const headers = Object.fromEntries(answer.headers)
      for (const name of [...OF_THE_CONNECTION, 'x-request-id']) delete headers[name]
      const text = await answer.text()
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
      seen.push({ path: path.slice(0, 9), status: answer.status, headers, body: alike(body) })
      return body
    }
    const json = (body: object, headers: Record<string, string> = {}) => ({
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
    const keys = newKeys()
    const { id, token } = (await ask('/token')) as { id: string; token: string }
    const bearer = { authorization: `Bearer ${token}` }
    const secret = newSecretBody(keys, { ciphertext: newCiphertext() })
    await ask('/token', { headers: { authorization: 'Bearer nobody' } })
    await ask('/secrets', json(secret))
    await ask('/secrets', json({ ...secret, iv: 5, more: 1 }, bearer))
    await ask('/secrets', { body: '{', headers: bearer })
    await ask('/secrets', { body: 'x'.repeat(80_000), headers: bearer })
    const { burnToken } = (await ask('/secrets', json({ ...secret, receipt: true }, bearer))) as {
      burnToken: string
    }
    await ask('/secrets', json(secret, bearer))
    const burner = { headers: { 'X-Burn-Token': burnToken } }
    await ask(`/secrets/${id}/status`, burner)
    await ask(`/secrets/${id}/status`)
    const asked = { link: keys.link, proof: keys.proof, claim: 'ab'.repeat(16) }
    await ask(`/secrets/${id}/reveal`, json({ ...asked, proof: keys.link }))
    await ask(`/secrets/${id}/reveal`, json({ ...asked, link: keys.proof }))
    await ask(`/secrets/${id}/reveal`, { body: 'no json' })
    await ask(`/secrets/${id}/reveal`, json(asked))
    await ask(`/secrets/${id}/ack`, json({ claim: asked.claim }))
    await ask(`/secrets/${id}/reveal`, json(asked))
    await ask(`/secrets/${id}`, { method: 'DELETE', ...burner })
    await ask(`/secrets/${id}`, { method: 'DELETE', ...burner })
    return { seen, taken, logged: lines.map(logged) }
  }

  test('gives the same status, headers, body and access log line on Node and in the app', async () => {
    const [app, node] = [await everyAnswer('the app'), await everyAnswer('Node')]
    expect(node.seen).toEqual(app.seen)
    expect(node.logged).toEqual(app.logged)
    expect(node.taken).toEqual(node.seen.map(() => true))
    const statuses = node.seen.map((answer) => (answer as { status: number }).status)
    expect(statuses.slice(0, 8).join(' ')).toBe('200 401 401 400 400 413 201 401')
    expect(statuses.slice(8).join(' ')).toBe('200 404 403 404 404 200 204 404 204 429')
  })
})

/** Replaces values that differ in each response. */
function alike(body: Record<string, unknown>): unknown {
  const made = new Set(['token', 'id', 'burnToken', 'prefix', 'ciphertext', 'iv'])
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) => (made.has(name) ? typeof value : value)),
  )
}

function logged(text: string): unknown {
  const { time: _, ...line } = JSON.parse(text) as Record<string, unknown>
  // The app refuses a body before it knows whose it is.
  if (line['status'] === 413) delete line['service']
  return { ...line, requestId: typeof line['requestId'], durationMs: typeof line['durationMs'] }
}
