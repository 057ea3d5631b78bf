/**
 * A JSON document that is opened only where somebody looks: the rest stays text. Names are keys of
 * maps, so that `__proto__` is a name like any other.
 */
import { every, type Step } from '../filters/path.ts'
import { elementsOf, membersOf } from './json-text.ts'

/** What is closed is the text of a JSON value. */
type Content = { closed: string } | Map<string, JsonNode> | JsonNode[]

export interface JsonNode {
  content: Content
}

/** `text` is known to be JSON. */
export function closedNode(text: string): JsonNode {
  return { content: { closed: text.trim() } }
}

/** As deep as the document was opened, which is as deep as paths are. */
export function textOf({ content }: JsonNode): string {
  if (content instanceof Map) {
    const members = [...content].map(([name, node]) => `${JSON.stringify(name)}:${textOf(node)}`)
    return `{${members.join(',')}}`
  }
  return Array.isArray(content) ? `[${content.map(textOf).join(',')}]` : content.closed
}

export function nodesAt(root: JsonNode, steps: readonly Step[]): JsonNode[] {
  let found = [root]
  for (const step of steps) found = found.flatMap((node) => below(node, step))
  return found
}

/** Makes what is missing on the way, and replaces what stands in the way. */
export function putAt(root: JsonNode, steps: readonly (string | number)[], text: string): void {
  let node = root
  for (const step of steps)
    node = typeof step === 'number' ? element(node, step) : member(node, step)
  node.content = closedNode(text).content
}

/** `steps` are not none: there is always a document. */
export function removeAt(root: JsonNode, steps: readonly Step[]): void {
  const last = steps.at(-1)
  if (last === undefined) return
  for (const { content } of nodesAt(root, steps.slice(0, -1)).map(opened)) {
    if (content instanceof Map) {
      if (last === every) content.clear()
      else content.delete(String(last))
    } else if (Array.isArray(content)) {
      if (last === every) content.length = 0
      else {
        const index = indexIn(content, last)
        if (index !== undefined) content.splice(index, 1)
      }
    }
  }
}

function below(node: JsonNode, step: Step): JsonNode[] {
  const { content } = opened(node)
  if (content instanceof Map) {
    if (step === every) return [...content.values()]
    const found = content.get(String(step))
    return found ? [found] : []
  }
  if (!Array.isArray(content)) return []
  if (step === every) return content
  const index = indexIn(content, step)
  const found = index === undefined ? undefined : content[index]
  return found ? [found] : []
}

function indexIn(elements: readonly unknown[], step: string | number): number | undefined {
  const index = typeof step === 'number' ? step : /^\d+$/.test(step) ? Number(step) : NaN
  const at = index < 0 ? elements.length + index : index
  return at in elements ? at : undefined
}

function member(node: JsonNode, name: string): JsonNode {
  const { content } = opened(node)
  const members = content instanceof Map ? content : new Map<string, JsonNode>()
  node.content = members
  const found = members.get(name) ?? closedNode('null')
  members.set(name, found)
  return found
}

function element(node: JsonNode, index: number): JsonNode {
  const { content } = opened(node)
  const elements = Array.isArray(content) ? content : []
  node.content = elements
  while (elements.length <= index) elements.push(closedNode('null'))
  return elements[index] ?? closedNode('null')
}

function opened(node: JsonNode): JsonNode {
  const { content } = node
  if (!('closed' in content)) return node
  const members = membersOf(content.closed)
  const inside = members
    ? new Map([...members].map(([name, text]) => [name, closedNode(text)] as const))
    : elementsOf(content.closed)?.map(closedNode)
  if (inside) node.content = inside
  return node
}
