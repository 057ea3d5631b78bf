// Enhances the API reference: a filter, copy buttons, and the current position in the contents.
// The page works without it. Served unchanged.
// @ts-nocheck: runs in a browser, whose types the rest of the project does not have.
const sidebar = document.querySelector('.sidebar')
const links = [...sidebar.querySelectorAll('a[href^="#"]')]

function startFilter() {
  const box = sidebar.querySelector('.filter')
  const input = box.querySelector('input')
  const status = box.querySelector('[role="status"]')
  const groups = [...sidebar.querySelectorAll('.sidebar-group')].map((element) => ({
    element,
    name: element.querySelector('.sidebar-title').textContent.toLowerCase(),
    items: [...element.querySelectorAll('li')].map((item) => {
      const anchor = item.querySelector('a').getAttribute('href').slice(1)
      const path = document.getElementById(anchor)?.querySelector('.path')?.textContent ?? ''
      return { item, text: `${item.textContent} ${path}`.toLowerCase() }
    }),
  }))
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    let found = 0
    for (const { element, name, items } of groups) {
      let shown = 0
      for (const { item, text } of items) {
        item.hidden = !words.every((word) => text.includes(word) || name.includes(word))
        if (!item.hidden) shown += 1
      }
      element.hidden = shown === 0
      found += shown
    }
    status.textContent = words.length > 0 && found === 0 ? 'Nothing matches' : ''
  }
  input.addEventListener('input', apply)
  // Browsers may restore the text after a reload.
  apply()
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, [contenteditable]') !== null
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      input.focus()
    }
  })
  box.hidden = false
}

function startCopying() {
  // Available only on https and localhost.
  if (!navigator.clipboard) return
  for (const button of document.querySelectorAll('button.copy')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      const text = button.closest('.sample').querySelector('pre').textContent
      try {
        await navigator.clipboard.writeText(text)
        button.textContent = 'Copied'
      } catch {
        button.textContent = 'Not allowed'
      }
      setTimeout(() => (button.textContent = 'Copy'), 2000)
    })
  }
}

function startFollowing() {
  const linkOf = new Map(links.map((link) => [link.getAttribute('href').slice(1), link]))
  let current
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue
        current?.removeAttribute('aria-current')
        current = linkOf.get(target.id)
        current?.setAttribute('aria-current', 'location')
        // Scrolls only the contents, not the page.
        const { top, bottom } = current.getBoundingClientRect()
        const frame = sidebar.getBoundingClientRect()
        if (top < frame.top || bottom > frame.bottom)
          sidebar.scrollTop += top - frame.top - frame.height / 3
      }
    },
    { rootMargin: '-15% 0px -80% 0px' },
  )
  for (const target of document.querySelectorAll('.operation, .named-schema')) {
    if (linkOf.has(target.id)) observer.observe(target)
  }
}

startFilter()
startCopying()
startFollowing()
