"""The registry of orders of judging: which triples people get next.

To add an order, write one file here whose `pick` chooses triples (`base.Order` says how), and add its entry to
`ORDERS`. `batch.py` chooses the next batch and judges a labelled pool again.
"""

from pooling.orders.bandit import BANDIT_MM, BANDIT_THOMPSON
from pooling.orders.base import Order
from pooling.orders.depth import DEPTH
from pooling.orders.hedge import HEDGE
from pooling.orders.move_to_front import MOVE_TO_FRONT
from pooling.orders.mtc import MTC
from pooling.orders.random import RANDOM
from pooling.orders.stratified import STRATIFIED

ORDERS: dict[str, Order] = {
    order.name: order for order in (DEPTH, RANDOM, MOVE_TO_FRONT, HEDGE, BANDIT_MM, BANDIT_THOMPSON, STRATIFIED, MTC)
}
