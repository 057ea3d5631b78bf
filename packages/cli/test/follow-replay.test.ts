import { ApiError, type ErrorStatus } from '@strongroom/kit/errors'
import { describe, expect, test } from 'vitest'
import { followReplay } from '../src/ferryhook/follow-replay.ts'
import type { Replay } from '../src/ferryhook/views.ts'
import type { ApiClient } from '../src/api-client.ts'

const running: Replay = {
  id: 'rpl_AAAAAAAAAAAAAAAA',
  sourceId: 'src_AAAAAAAAAAAAAAAA',
  sourceName: 'Shop',
  status: null,
  type: null,
  state: 'running',
  progress: 0,
  events: { examined: 0, matched: 0, unverified: 0, gone: 0 },
  deliveries: { replayed: 0, runOpen: 0 },
  createdAt: '2100-01-01T00:00:00.000Z',
}
const done: Replay = { ...running, state: 'done', progress: 1 }
const refused = (status: ErrorStatus, code: string) => new ApiError({ code, status, message: 'No' })

/** A server that returns these responses in order. */
function answering(...answers: (Replay | ApiError)[]) {
  const asked: string[] = []
  const ask = (async (method: string) => {
    asked.push(method)
    const answer = answers.shift()
    if (answer instanceof ApiError) throw answer
    return answer
  }) as ApiClient
  return { ask, asked }
}

function following(ask: ApiClient, signal = new AbortController().signal) {
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  return { pauses, ended: followReplay(ask, running, { signal, pause, onProgress() {} }) }
}

describe('followReplay', () => {
  test('polls less and less often and tolerates the rate limit', async () => {
    const tooMany = refused(429, 'request.rate_limited')
    const { ask } = answering(running, running, tooMany, running, running, done)
    const { pauses, ended } = following(ask)
    expect(await ended).toBe(done)
    expect(pauses).toEqual([200, 400, 800, 1600, 2000, 2000])
  })

  test('fails with any other error of the server', async () => {
    const { ask } = answering(refused(401, 'ferryhook.unauthorized'))
    await expect(following(ask).ended).rejects.toMatchObject({ code: 'ferryhook.unauthorized' })
  })

  test('returns the outcome of a replay that ended before it was cancelled', async () => {
    const { ask, asked } = answering(refused(409, 'ferryhook.replay_ended'), done)
    expect(await following(ask, AbortSignal.abort()).ended).toBe(done)
    expect(asked).toEqual(['DELETE', 'GET'])
  })
})
