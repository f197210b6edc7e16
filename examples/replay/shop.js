const { document, history } = globalThis;
const at = (id) => document.getElementById(id);
const BOOKS = ['A Pattern Language', 'Notes on the Synthesis of Form', 'The Timeless Way of Building'];

for (const title of BOOKS) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.textContent = 'Add';
  button.addEventListener('click', () => (at('cart').textContent = `In the cart: ${title}.`));
  item.append(`${title} `, button);
  at('books').append(item);
}

at('order').addEventListener('submit', async (event) => {
  event.preventDefault();
  // a service that confirms shows what it should not: the recorder masks the address, the card number and the token
  at('street').textContent = `Sesame Street 123, for ${at('name').value}`;
  at('answer').textContent = 'Confirmed to ada.lovelace@example.com, card 4111 1111 1111 1111, token=s3cr3t-t0k3n-value.';
  const response = await fetch('/api/pay', { method: 'POST' }).catch(() => null);
  at('answer').textContent += response?.ok ? ' Paid.' : ' The payment failed.';
});

at('navigate').addEventListener('click', () => {
  history.pushState(null, '', '/orders');
  at('answer').textContent = 'You have no orders.';
});

at('break').addEventListener('click', () => {
  throw new TypeError('cart.total is not a function');
});
