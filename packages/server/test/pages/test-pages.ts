/** The pages inside the app that the server mounts them in, and a few ways to look at HTML. */
import { createApp } from '@strongroom/kit/http/app'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { HomeProps } from '../../src/pages/home.tsx'
import { notFoundPage } from '../../src/pages/not-found.tsx'
import { pageRoutes } from '../../src/pages/routes.tsx'

export const emptyDocument = {
  openapi: '3.1.0',
  info: { title: 'Strongroom', version: '0.1.0' },
  paths: {},
}

const homeProps: HomeProps = {
  version: '0.1.0',
  services: [],
  store: { kind: 'embedded', label: 'Embedded engine', detail: './data' },
  kms: { label: 'Embedded KMS', detail: '' },
  publicUrl: 'http://localhost:4280',
  ready: true,
  startedAt: new Date('2026-01-02T03:04:05Z'),
  metricsPath: '/metrics',
}

export const services = [
  { name: 'sealed', title: 'Sealed', summary: 'Hand a secret over, once', href: '/sealed/' },
  { name: 'other', title: 'Other', summary: 'Has no page', href: '/docs#group-other' },
]

export function pagesApp(home: Partial<HomeProps> = {}, document: object = emptyDocument) {
  const app = createApp({
    log: silentLog,
    metrics: createMetrics(),
    notFoundPage: notFoundPage('0.1.0'),
  })
  app.route('/', pageRoutes({ home: () => ({ ...homeProps, ...home }), document: () => document }))
  return app
}

export async function htmlOf(answer: Response | Promise<Response>): Promise<string> {
  return (await answer).text()
}

export async function docsHtml(document: object): Promise<string> {
  return htmlOf(pagesApp({}, document).request('/docs'))
}

/** The values of an attribute, in the order of the page. */
export function attributes(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value)
}

/** The page without its tags, with single spaces. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<wbr\/?>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
}
