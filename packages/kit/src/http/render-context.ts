/**
 * hono/jsx follows the contexts of a page through what it waits for by way of AsyncLocalStorage, and
 * from the first page on every promise of the process costs nearly three times as much. Our pages
 * have no contexts, so it is made to look for AsyncLocalStorage while there is none to be found; it
 * looks once.
 */
import { createContext, useContext } from 'hono/jsx'

export function renderWithoutContext(): void {
  const { getBuiltinModule } = process
  process.getBuiltinModule = () => undefined
  try {
    useContext(createContext(undefined))
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}
