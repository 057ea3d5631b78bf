import type { Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import type { AppEnv } from './env.ts'

/** Finds the methods that a path accepts, so that a wrong method is told from a wrong path. */
export function allowedMethods(app: Pick<Hono<AppEnv>, 'routes'>): (path: string) => string[] {
  let router: TrieRouter<string> | undefined
  let known = 0
  return (path) => {
    if (!router || known !== app.routes.length) {
      router = new TrieRouter()
      known = app.routes.length
      for (const { method, path: pattern } of app.routes) {
        // ALL is middleware, and a pattern that takes everything says nothing about this path.
        if (method !== 'ALL' && pattern !== '/*' && pattern !== '*')
          router.add('ALL', pattern, method)
      }
    }
    const methods = new Set(router.match('ALL', path)[0].map(([method]) => method))
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].toSorted()
  }
}
