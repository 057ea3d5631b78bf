import { Counter } from 'prom-client'
import { expect, test } from 'vitest'
import { createMetrics } from '../src/metrics.ts'

const request = {
  service: 'sealed',
  route: '/sealed/v1/secrets/:id',
  method: 'GET',
  status: 200,
  durationSeconds: 0.002,
}

test('requests are counted and timed by service, route pattern, method and status', async () => {
  const metrics = createMetrics()
  metrics.observeHttp(request)
  metrics.observeHttp(request)
  metrics.observeHttp({ ...request, status: 404 })
  const text = await metrics.text()
  const labels = 'service="sealed",route="/sealed/v1/secrets/:id",method="GET"'
  expect(text).toContain(`strongroom_http_requests_total{${labels},status="200"} 2`)
  expect(text).toContain(`strongroom_http_requests_total{${labels},status="404"} 1`)
  expect(text).toContain(`strongroom_http_request_duration_seconds_count{${labels},status="200"} 2`)
  expect(text).toContain(
    `strongroom_http_request_duration_seconds_bucket{le="0.0025",${labels},status="200"} 2`,
  )
  expect(metrics.contentType).toContain('text/plain')
})

test('an unknown method does not create a series', async () => {
  const metrics = createMetrics()
  metrics.observeHttp({ ...request, method: 'BREW' })
  metrics.observeHttp({ ...request, method: 'STEAM' })
  const text = await metrics.text()
  expect(text).toContain('method="other",status="200"} 2')
  expect(text).not.toMatch(/BREW|STEAM/)
})

test('two apps in one process have separate metrics', async () => {
  const [one, two] = [createMetrics(), createMetrics()]
  one.observeHttp(request)
  expect(await two.text()).not.toContain('service="sealed"')
})

test('a service adds its own metrics, and the process its own if enabled', async () => {
  const metrics = createMetrics({ process: true })
  new Counter({ name: 'strongroom_test_total', help: 'Test', registers: [metrics.registry] }).inc()
  const text = await metrics.text()
  expect(text).toContain('strongroom_test_total 1')
  expect(text).toContain('process_resident_memory_bytes')
  expect(await createMetrics().text()).not.toContain('process_resident_memory_bytes')
})
