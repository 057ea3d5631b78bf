/** Serves the console: one page for every address under `/console/`, and its files. */
import { pagePolicy } from '@strongroom/kit/http/content-security-policy'
import type { AppEnv } from '@strongroom/kit/http/env'
import { publicRoute } from '@strongroom/kit/http/permissions'
import { acceptsGzip } from '@strongroom/platform/accepts-gzip'
import { type Context, Hono } from 'hono'
import type { ConsoleFile } from './files.ts'

const POLICY = pagePolicy({
  scripts: ["'self'"],
  styles: ["'self'"],
  // QR codes are drawn in the page.
  images: ["'self'", 'data:'],
  connect: ["'self'"],
})

interface Site {
  files: ReadonlyMap<string, ConsoleFile>
  page: string
}

/** `atRoot` is the service whose API has no prefix, because it is the only one. */
export function consoleRoutes({ atRoot }: { atRoot?: string | undefined } = {}): Hono<AppEnv> {
  let site: Promise<Site> | undefined
  const open = () => (site ??= loadSite(atRoot))
  const app = new Hono<AppEnv>()

  const page = async (c: Context<AppEnv>) => {
    c.header('content-security-policy', POLICY)
    c.header('cache-control', 'no-store')
    c.header('x-robots-tag', 'noindex')
    return c.html((await open()).page)
  }

  app.get('/console', publicRoute, (c) => c.redirect('/console/', 301))
  app.get('/console/assets/:name', publicRoute, async (c) => {
    const file = (await open()).files.get(c.req.param('name'))
    if (!file) return c.notFound()
    c.header('cache-control', 'public, max-age=31536000, immutable')
    c.header('content-type', file.contentType)
    c.header('vary', 'accept-encoding')
    if (!acceptsGzip(c.req.header('accept-encoding'))) return c.body(file.body)
    c.header('content-encoding', 'gzip')
    return c.body(file.gzipped())
  })
  app.get('/console/*', publicRoute, page)
  return app
}

/** Loaded with the first request, because a start must not wait for it. */
async function loadSite(atRoot: string | undefined): Promise<Site> {
  const [{ consoleFiles }, { consoleDocument }] = await Promise.all([
    import('./files.ts'),
    import('./document.tsx'),
  ])
  const files = consoleFiles()
  const find = (pattern: RegExp) => {
    const name = [...files.keys()].find((each) => pattern.test(each))
    if (name === undefined) throw new TypeError(`The console has no file ${pattern.source}`)
    return `/console/assets/${name}`
  }
  const page = await consoleDocument({
    script: find(/^main-.*\.js$/),
    styles: find(/^main-.*\.css$/),
    atRoot,
  })
  return { files, page: page.toString() }
}
