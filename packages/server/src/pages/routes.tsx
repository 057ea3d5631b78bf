import { pagePolicy } from '@strongroom/kit/http/content-security-policy'
import type { AppEnv } from '@strongroom/kit/http/env'
import { type Context, Hono } from 'hono'
import { type Asset, assets, contentHash, faviconFile } from './assets.ts'
import { DocsPage } from './docs.tsx'
import { HomePage, type HomeProps } from './home.tsx'
import { renderPage } from './render.ts'

export interface PageRoutesOptions {
  /** Asked for each request: what it says is what holds now. */
  home: () => HomeProps | Promise<HomeProps>
  /** The OpenAPI document; the same object means that nothing has changed. */
  document: () => object
}

const homePolicy = pagePolicy({ styles: ["'self'"], images: ["'self'"] })
const docsPolicy = pagePolicy({ scripts: ["'self'"], styles: ["'self'"], images: ["'self'"] })

const DAY_SECONDS = 24 * 60 * 60

export function pageRoutes({ home, document }: PageRoutesOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const files = new Map(assets.map((asset) => [asset.path, { ...asset, etag: etagOf(asset.body) }]))
  const docs = renderOnce((of) => renderPage(<DocsPage document={of} />))

  app.get('/', async (c) => {
    const props = await home()
    c.header('content-security-policy', homePolicy)
    // It shows the state of this moment.
    c.header('cache-control', 'no-store')
    return c.html(await renderPage(<HomePage {...props} />))
  })

  app.get('/docs', async (c) => {
    const { html, etag } = await docs(document())
    c.header('content-security-policy', docsPolicy)
    c.header('cache-control', 'no-cache')
    c.header('etag', etag)
    return isKnown(c, etag) ? c.body(null, 304) : c.html(html)
  })

  app.get('/docs/', (c) => c.redirect('/docs', 301))

  app.get('/assets/:file', (c) => {
    const file = files.get(c.req.path)
    return file ? serve(c, file) : c.notFound()
  })
  app.get(faviconFile.path, (c) => serve(c, { ...faviconFile, etag: etagOf(faviconFile.body) }))
  // For what asks without reading the page: browsers of today take the drawing.
  app.get('/favicon.ico', (c) => {
    c.header('cache-control', `public, max-age=${DAY_SECONDS}`)
    return c.redirect(faviconFile.path, 301)
  })
  return app
}

function serve(c: Context<AppEnv>, file: Asset & { etag: string }) {
  c.header(
    'cache-control',
    file.immutable ? 'public, max-age=31536000, immutable' : `public, max-age=${DAY_SECONDS}`,
  )
  c.header('etag', file.etag)
  if (isKnown(c, file.etag)) return c.body(null, 304)
  c.header('content-type', file.contentType)
  return c.body(file.body)
}

function etagOf(body: string): string {
  return `"${contentHash(body)}"`
}

/** Whether the client has this version; a proxy that compresses makes the tag a weak one. */
function isKnown(c: Context<AppEnv>, etag: string): boolean {
  const tags = (c.req.header('if-none-match') ?? '').split(',')
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

/** Rendering a large document takes time, and it changes only when the server starts. */
function renderOnce(render: (of: object) => Promise<string>) {
  let last: { of: object; html: string; etag: string } | undefined
  return async (of: object) => {
    if (last?.of === of) return last
    const html = await render(of)
    last = { of, html, etag: etagOf(html) }
    return last
  }
}
