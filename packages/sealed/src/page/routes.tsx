/** The page and its assets. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { pagePolicy } from '@strongroom/kit/http/content-security-policy'
import type { AppEnv } from '@strongroom/kit/http/env'
import { publicRoute } from '@strongroom/kit/http/permissions'
import { acceptsGzip } from '@strongroom/platform/accepts-gzip'
import { html } from 'hono/html'
import { ESCAPED_HASH } from '../crypto/link.ts'
import { assets } from './assets.ts'
import { type PageContent, SealedDocument } from './document.tsx'

const policy = pagePolicy({
  scripts: ["'self'"],
  styles: ["'self'"],
  images: ["'self'"],
  connect: ["'self'"],
  workers: ["'self'"],
  // Allows one URL, that of the worker.
  trustedTypes: ['sealed-worker'],
})

/** The page is the same for everyone, so it is rendered once. */
export function pageRoutes(content: PageContent): OpenAPIHono<AppEnv> {
  const { logo } = content
  const served = logo ? [...assets, logo] : assets
  const files = new Map(served.map((asset) => [asset.name, asset]))
  const page = html`<!doctype html>${<SealedDocument {...content} />}`
  const app = new OpenAPIHono<AppEnv>()
  // A link whose # was escaped by a mail or chat program is a path. It contains a key, which nothing
  // here may read, log or return: the page explains it.
  app.on('GET', ['/', `/:link{${ESCAPED_HASH.source}[^/]*}`], publicRoute, async (c) => {
    c.header('content-security-policy', policy)
    c.header('cache-control', 'no-store')
    c.header('x-robots-tag', 'noindex')
    return c.html(await page)
  })
  app.get('/assets/:name', publicRoute, (c) => {
    const file = files.get(c.req.param('name'))
    if (!file) return c.notFound()
    c.header('cache-control', 'public, max-age=31536000, immutable')
    c.header('content-type', file.contentType)
    c.header('vary', 'accept-encoding')
    if (!acceptsGzip(c.req.header('accept-encoding'))) return c.body(file.body)
    c.header('content-encoding', 'gzip')
    return c.body(file.gzipped)
  })
  return app
}
