import { AsyncLocalStorage } from 'node:async_hooks'
import { jsx } from 'hono/jsx'
import { expect, test, vi } from 'vitest'
import { createApp } from '../src/http/app.ts'
import { silentLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'

test('rendering a page does not slow down the rest of the process', async () => {
  const run = vi.spyOn(AsyncLocalStorage.prototype, 'run')
  const app = createApp({ log: silentLog, metrics: createMetrics() })
  const Page = () => jsx('p', {}, 'text')
  app.get('/page', (c) => c.html(String(jsx(Page, {}))))
  expect(await (await app.request('/page')).text()).toBe('<p>text</p>')
  expect(run).not.toHaveBeenCalled()
  expect(process.getBuiltinModule('node:path')).toBeDefined()
})
