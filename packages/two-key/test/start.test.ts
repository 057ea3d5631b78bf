import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { secretBox, testSecrets } from '@strongroom/kit/testing/test-secrets'
import { describe, expect, test } from 'vitest'
import { startTwoKey } from '../src/start.ts'
import { openDb } from './support/test-checkers.ts'

describe.each(serviceStores())('the service on $name', (store) => {
  const opened = openDb(store)

  test('stops its maintenance when it is closed while maintenance is running', async () => {
    const timers = new Set<() => void>()
    const clock = testClock()
    const running = startTwoKey(
      {
        db: opened.db,
        clock,
        log: createLog({ level: 'silent', clock, sink() {} }),
        metrics: createMetrics(),
        secrets: testSecrets(),
        publicUrl: 'https://strongroom.example',
        secretBox,
        config: {
          TWO_KEY_SLACK_API_URL: 'https://slack.example/api',
          TWO_KEY_SLACK_SHARE: 80,
          TWO_KEY_CACHE_MAC: false,
          TWO_KEY_ALLOWED_NETWORKS: [],
          TWO_KEY_ALLOW_HTTP: false,
        },
      },
      {
        startTimer(_ms, expire) {
          timers.add(expire)
          return () => void timers.delete(expire)
        },
      },
    )
    const [minute] = timers
    timers.clear()
    minute?.()
    await running.close?.()
    await new Promise((resolve) => void setImmediate(resolve))
    expect(timers.size).toBe(0)
  })
})
