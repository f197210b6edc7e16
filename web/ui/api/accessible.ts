/**
 * What of Redoc's markup keeps readers of screens from it, put right behind each of its renderings: the heads of parts (`h5`) stand behind an `h2`, and
 * items of the menu have a name without the method that they show.
 */
export function keepAccessible(root: HTMLElement): void {
  const patch = (): void => {
    for (const head of root.querySelectorAll('h5:not([aria-level])')) head.setAttribute('aria-level', '3');
    for (const item of root.querySelectorAll('li[data-item-id][aria-label]')) item.removeAttribute('aria-label');
  };
  patch();
  new MutationObserver(patch).observe(root, { childList: true, subtree: true });
}
